import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso";
import { ApiError, api, must, randomKey, type Schemas, toMessage } from "../../app/api";
import type { Resource } from "../../app/cache";
import { formatCount } from "../../app/format";
import { formatPrice } from "../../app/rare-formats";
import { canWrite, isAdmin } from "../../app/session";
import { toLocalAddress } from "../../app/use-query";
import { Button } from "../../ui/button";
import { Section } from "../../ui/section";
import { Empty, ErrorPanel, ResourceView } from "../../ui/states";

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
  <Empty title="No credits are for sale on this server" icon="credits">
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

type CheckoutState = { startingId: string | null; error: string | null };

type Checkout = {
  state: Signal<CheckoutState>;
  /** Orders a price and opens the page for payment or approval. */
  start(priceId: string): Promise<void>;
  /** Enables the buttons again when the user comes back. Returns a function that stops it. */
  watch(): () => void;
};

/** Returns the checkout of a page. `route` opens a page of the dashboard. */
const useCheckout = (route: (path: string) => void): Checkout => useMemo(() => createCheckout(route), []);

function createCheckout(route: (path: string) => void): Checkout {
  const state = signal<CheckoutState>({ startingId: null, error: null });
  /** The key of an order whose response was lost. Sending the same key again does not create a second order. */
  let unanswered: { priceId: string; key: string } | null = null;

  async function start(priceId: string): Promise<void> {
    if (state.value.startingId !== null) return;
    state.value = { startingId: priceId, error: null };
    const key = unanswered?.priceId === priceId ? unanswered.key : randomKey();
    unanswered = { priceId, key };
    try {
      const { url } = await must(
        api.POST("/api/v1/billing/checkout", {
          body: { price_id: priceId },
          params: { header: { "Idempotency-Key": key } },
        }),
      );
      unanswered = null;
      openCheckout(url, route);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "offline")) unanswered = null;
      state.value = { startingId: null, error: explain(error) };
    }
  }

  return {
    state,
    start,
    watch: () => {
      // A page that the browser restores is in the state in which the user left it.
      const onShow = () => {
        state.value = { startingId: null, error: null };
      };
      addEventListener("pageshow", onShow);
      return () => removeEventListener("pageshow", onShow);
    },
  };
}

const ORDER_PATH = /^\/orders\//;

/**
 * Opens an offline order in this dashboard, at the address that the user already uses, or the page of the payment
 * provider.
 */
function openCheckout(url: string, route: (path: string) => void): void {
  const path = toLocalAddress(url);
  if (ORDER_PATH.test(path)) route(path);
  else location.assign(url);
}

const REFUSALS = ["upstream_unavailable", "upstream_error"];

const explain = (error: unknown): string =>
  `${toMessage(error)}${error instanceof ApiError && REFUSALS.includes(error.code) ? " Nothing was ordered." : ""}`;
