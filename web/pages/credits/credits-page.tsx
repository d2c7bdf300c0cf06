import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatCount } from "../../app/format";
import { toLocalAddress } from "../../app/local-address";
import { formatPrice } from "../../app/money";
import { workspace } from "../../app/session";
import { Icon } from "../../ui/icon";
import { Section } from "../../ui/section";
import { ListSkeleton, ResourceView } from "../../ui/states";
import { CreditsFrame } from "./credits-frame";
import { HoldsPanel } from "./holds-panel";
import { PriceList } from "./price-list";
import { SubscriptionPanel } from "./subscription-panel";

/** The credits of the workspace: available, reserved, and where to buy more. */
export default function CreditsPage() {
  const shown = workspace.value;
  const id = shown?.id;
  const balance = useRead(["credits", "balance", id], (signal) => must(api.GET("/api/v1/credits/balance", { signal })));
  const prices = useRead(["prices", id], (signal) => must(api.GET("/api/v1/billing/prices", { signal })));
  const subscription = useRead(["credits", "subscription", id], (signal) =>
    must(api.GET("/api/v1/billing/subscription", { signal })),
  );
  return (
    <CreditsFrame title="Credits">
      {shown && !shown.is_personal && (
        <p class="soft">
          All members of the workspace <strong dir="auto">{shown.name}</strong> share these credits.
        </p>
      )}
      <ResourceView resource={balance} skeleton={<ListSkeleton rows={2} />}>
        {(value) => <BalancePanel credits={value} />}
      </ResourceView>
      <WaitingRecordings />
      <PendingOrders />
      <SubscriptionPanel subscription={subscription} prices={prices} />
      <PriceList prices={prices} subscription={subscription} />
      <HoldsPanel />
    </CreditsFrame>
  );
}

const WAITS_FOR: Record<Schemas["Order"]["provider"], string> = {
  offline: "is waiting for an administrator's approval",
  stripe: "is not paid yet",
};

/** The newest undecided orders. Renders nothing without any. */
function PendingOrders() {
  const orders = useRead(
    ["credits", "newest-orders", workspace.value?.id],
    (signal) => must(api.GET("/api/v1/billing/orders", { params: { query: { limit: 20 } }, signal })),
    // A rejection does not change credits, so no event reports it.
    { refreshMs: 30_000 },
  );
  const state = orders.state.value;
  const pending = state.kind === "ready" ? state.value.items.filter((order) => order.state === "pending") : [];
  if (pending.length === 0) return null;
  return (
    <ul class="pending-orders">
      {pending.map((order) => (
        <li key={order.id} class="message">
          <Icon name="info" />
          <p>
            The order “<bdi>{order.name}</bdi>” ({formatCount(order.credits, "credit")}, {formatPrice(order)}){" "}
            {WAITS_FOR[order.provider]}. <a href={toLocalAddress(order.url)}>Open the order</a>
          </p>
        </li>
      ))}
    </ul>
  );
}

const MAX_SHOWN = 5;

/** Prepared recordings that are waiting for credits. Renders nothing without any. */
function WaitingRecordings() {
  const waiting = useRead(["waiting-recordings", workspace.value?.id], (signal) => {
    const query = { state: "pending_payment" as const, sort: "created_at" as const, limit: 100 };
    return must(api.GET("/api/v1/assets", { params: { query }, signal }));
  });
  const state = waiting.state.value;
  if (state.kind !== "ready" || state.value.items.length === 0) return null;
  const { items, next_cursor: next } = state.value;
  const count =
    next === null ? formatCount(items.length, "recording") : `More than ${formatCount(items.length, "recording")}`;
  return (
    <div class="message warning">
      <Icon name="warning" />
      <div>
        <p>
          {count} {items.length === 1 ? "waits" : "wait"} for credits. When the balance covers the oldest, it is charged
          and ready, then the next.
        </p>
        <ul class="waiting-recordings">
          {items.slice(0, MAX_SHOWN).map(({ id, filename }) => (
            <li key={id} class="truncate">
              <a href={`/assets/${id}`} dir="auto">
                {filename ?? "Unnamed recording"}
              </a>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

type Credits = Schemas["CreditBalance"];

const format = (credits: number) => toNumber(credits).replace("-", "−");

/** The available and the reserved credits of the workspace. */
function BalancePanel({ credits: { balance, total_held: held } }: { credits: Credits }) {
  return (
    <Section title="Balance">
      <dl class="balance">
        <div>
          <dt>Available</dt>
          <dd class={balance < 0 ? "balance-figure negative" : "balance-figure"}>{format(balance)}</dd>
        </div>
        <div>
          <dt>Held for unfinished work</dt>
          <dd>{format(held)}</dd>
        </div>
        <div>
          <dt>Total</dt>
          <dd>{format(balance + held)}</dd>
        </div>
      </dl>
      {balance <= 0 && (
        <div class="message warning">
          <Icon name="warning" />
          <p>{adviseBalance(balance)}</p>
        </div>
      )}
    </Section>
  );
}

/** Explains an empty or negative balance. */
function adviseBalance(balance: number): string {
  if (balance < 0)
    return `Credits that were already used were refunded or removed, so ${format(-balance)} credits are missing. Recordings, cuts and renders that exist are not affected. Recordings cannot be uploaded until the balance is positive.`;
  return "No credits are available. Recordings, cuts and renders that exist are not affected. Recordings cannot be uploaded until credits are added.";
}
