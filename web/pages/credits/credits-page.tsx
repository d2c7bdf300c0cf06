import { api, must, type Schemas } from "../../app/api";
import { type Resource, useOffsetList, useRead } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatCount, formatDay, nameOf } from "../../app/format";
import { nameSteps } from "../../app/pipelines";
import { formatPrice } from "../../app/rare-formats";
import { canWrite, workspace } from "../../app/session";
import { toLocalAddress } from "../../app/use-query";
import { type Column, DataTable, Truncated } from "../../ui/data-table";
import { ConfirmButton } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { Section } from "../../ui/section";
import { ErrorPanel, ListSkeleton, Message, ResourceView } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import { CreditsFrame } from "../frames";
import { PriceList } from "./price-list";

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
    <Message look="warning">
      <div>
        <p>
          {count} {items.length === 1 ? "waits" : "wait"} for credits. Offcut prepares them one at a time, oldest first,
          as credits become available.
        </p>
        <ul class="waiting-recordings">
          {items.slice(0, MAX_SHOWN).map((asset) => (
            <li key={asset.id} class="truncate">
              <a href={`/assets/${asset.id}`} dir="auto">
                {nameOf(asset)}
              </a>
            </li>
          ))}
        </ul>
      </div>
    </Message>
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
        <Message look="warning">
          <p>{adviseBalance(balance)}</p>
        </Message>
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

type Hold = Schemas["CreditHold"];

const COLUMNS: Column<Hold>[] = [
  {
    title: "Job",
    width: "minmax(0, 1fr)",
    cell: ({ pipeline_id: id, processor_names: names }) => <a href={`/jobs/${id}`}>{nameSteps(names) || "Job"}</a>,
  },
  { title: "Recording", width: "minmax(0, 2fr)", cell: (hold) => <Recording hold={hold} /> },
  { title: "Since", width: "9rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  { title: "Credits", width: "7rem", isNumber: true, cell: ({ amount }) => toNumber(amount) },
];

function Recording({ hold: { asset } }: { hold: Hold }) {
  if (asset === null) return <span class="soft">Deleted recording</span>;
  const name = nameOf(asset);
  return <Truncated href={`/assets/${asset.id}`} text={name} />;
}

/** The credits that unfinished work has reserved. */
function HoldsPanel() {
  const list = useOffsetList<Hold>(["credits", "holds", workspace.value?.id], (query, signal) =>
    must(api.GET("/api/v1/credits/holds", { params: { query }, signal })),
  );
  return (
    <Section
      title="Held credits"
      hint="Credits are held while work runs. They are used when it completes, and released when it fails or is cancelled."
    >
      <DataTable caption="Held credits" columns={COLUMNS} list={list} empty={<p>No credits are held now.</p>} />
    </Section>
  );
}

type Subscription = Schemas["Subscription"];
type Prices = Schemas["PriceList"];

type SubscriptionPanelProps = { subscription: Resource<Subscription | null>; prices: Resource<Prices> };

/** The current subscription of the workspace. Renders nothing without one. */
function SubscriptionPanel({ subscription: resource, prices }: SubscriptionPanelProps) {
  const state = resource.state.value;
  if (state.kind === "failed") return <ErrorPanel {...state} onRetry={() => void resource.reload()} />;
  if (state.kind === "loading" || state.value === null) return null;
  const subscription = state.value;
  const canEnd = canWrite.value && !subscription.is_ending && subscription.state !== "incomplete";
  return (
    <Section
      title="Subscription"
      actions={
        <ConfirmButton
          isOffered={canEnd}
          button={{ children: "Cancel subscription" }}
          title="Cancel the subscription?"
          confirmLabel="Cancel subscription"
          closeLabel="Keep subscription"
          onConfirm={async () => {
            await must(api.DELETE("/api/v1/billing/subscription"));
            await resource.reload();
          }}
        >
          <p>{describeEnd(subscription)}</p>
        </ConfirmButton>
      }
    >
      <p>
        <strong dir="auto">{nameSubscription(subscription, prices)}</strong>
      </p>
      {subscription.state === "past_due" ? <FailedPayment /> : <p>{describe(subscription)}</p>}
    </Section>
  );
}

const FailedPayment = () => (
  <Message look="bad">
    <p>
      The last payment failed. Stripe will retry it. The credits for this period are added when the payment succeeds.
      Existing credits are kept. <a href="/credits/invoices">Open invoices</a> to pay now or with another card.
    </p>
  </Message>
);

/** Returns the configured name and price, or the ID of a discontinued price. */
function nameSubscription({ price_id: id }: Subscription, { state: { value: prices } }: Resource<Prices>): string {
  const price = prices.kind === "ready" ? prices.value.items.find(({ price_id }) => price_id === id) : undefined;
  return price === undefined ? id : `${price.name}, ${formatPrice({ ...price, provider: "stripe" })}`;
}

/** Describes the effect of cancelling. A failed payment is still owed. */
const describeEnd = (subscription: Subscription): string =>
  subscription.state === "past_due"
    ? `The subscription does not renew${formatEnd(subscription, ": it ends on ")}. Stripe may still collect the failed payment, and its credits are then added. Paid credits stay in the workspace. You can subscribe again at any time.`
    : `You are not charged again, and no credits are added after the paid period${formatEnd(subscription, ", which ends on ")}. Paid credits stay in the workspace. You can subscribe again at any time.`;

/** Returns the last day of the period after `lead`, or "" if it is unknown. */
const formatEnd = ({ current_period_end: end }: Subscription, lead: string): string =>
  end === null ? "" : `${lead}${formatDay(end)}`;

function describe(subscription: Subscription): string {
  if (subscription.is_ending)
    return `It ends${formatEnd(subscription, " on ")}. You are not charged again, and paid credits are kept.`;
  if (subscription.state === "incomplete")
    return "The first payment is not confirmed yet. Credits are added when it is.";
  return `It renews${formatEnd(subscription, " on ")}. Credits are added with each payment.`;
}
