import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Schemas } from "../../app/api";
import type { Resource } from "../../app/cache";
import { formatCount } from "../../app/format";
import { formatPrice } from "../../app/money";
import { canWrite, isAdmin } from "../../app/session";
import { Button } from "../../ui/button";
import { Section } from "../../ui/section";
import { Empty, ErrorPanel, ResourceView } from "../../ui/states";
import { useCheckout } from "./use-checkout";

type Prices = Schemas["PriceList"];
type Price = Prices["items"][number];
type Subscription = Schemas["Subscription"];

type PriceListProps = { prices: Resource<Prices>; subscription: Resource<Subscription | null> };

const HINTS: Record<Prices["provider"], string> = {
  offline: "An administrator of this server approves each order. The credits are added then.",
  stripe: "You pay at Stripe. The credits are added when the payment is confirmed.",
};

/** The prices. Viewers see who can buy instead. */
export function PriceList({ prices, subscription }: PriceListProps) {
  if (!canWrite.value)
    return (
      <Section title="Buy credits">
        <p class="soft">You can view this workspace. Ask one of its owners or editors to buy credits.</p>
      </Section>
    );
  const { value: loaded } = prices.state;
  const hint = loaded.kind === "ready" && loaded.value.items.length > 0 ? HINTS[loaded.value.provider] : undefined;
  const { value: current } = subscription.state;
  // A subscription whose first payment is open does not count: its checkout may have been abandoned.
  const isSubscribed = current.kind === "ready" && current.value !== null && current.value.state !== "incomplete";
  return (
    <Section title="Buy credits" hint={hint}>
      <ResourceView resource={prices}>
        {(list) => (list.items.length === 0 ? <NothingForSale /> : <Offers list={list} isSubscribed={isSubscribed} />)}
      </ResourceView>
    </Section>
  );
}

function Offers({ list: { items, provider }, isSubscribed }: { list: Prices; isSubscribed: boolean }) {
  const { route } = useLocation();
  const checkout = useCheckout(route);
  useEffect(checkout.watch, [checkout]);
  const { startingId, error } = checkout.state.value;
  return (
    <>
      {error !== null && <ErrorPanel message={error} />}
      <ul class="prices">
        {items.map((price) => (
          <li key={price.price_id} class="price">
            <h3 dir="auto">{price.name}</h3>
            <p class="price-amount">{formatPrice({ ...price, provider })}</p>
            {describe(price, provider) !== price.name && <p class="soft">{describe(price, provider)}</p>}
            {isSubscribed && price.kind === "subscription" ? (
              <p class="soft price-note">The workspace has a subscription.</p>
            ) : (
              <Button
                look="primary"
                isBusy={startingId === price.price_id}
                disabled={startingId !== null}
                aria-label={`${nameAction(price, provider) === "Buy" ? "Buy" : "Subscribe to"} ${price.name}`}
                onClick={() => void checkout.start(price.price_id)}
              >
                {nameAction(price, provider)}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

const nameAction = ({ kind }: Price, provider: Prices["provider"]): string =>
  kind === "subscription" && provider === "stripe" ? "Subscribe" : "Buy";

/** Describes a price. Only Stripe renews subscriptions. */
function describe({ kind, credits, interval }: Price, provider: Prices["provider"]): string {
  const amount = formatCount(credits, "credit");
  if (kind === "pack") return amount;
  return provider === "stripe" ? `${amount} each ${interval}, until you cancel` : `${amount} once, without renewal`;
}

const NothingForSale = () => (
  <Empty title="This server sells no credits" icon="credits">
    {isAdmin.value ? (
      <p>
        Add prices to the server's configuration as <code>[[price]]</code>, or grant credits to a user under{" "}
        <a href="/admin/users">Users</a>.
      </p>
    ) : (
      <p>Ask an administrator of this server for credits.</p>
    )}
  </Empty>
);
