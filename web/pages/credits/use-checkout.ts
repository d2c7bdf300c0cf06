/** Orders credits. */
import { type Signal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ApiError, api, must, toMessage } from "../../app/api";
import { toLocalAddress } from "../../app/local-address";
import { randomKey } from "../../app/random-key";

type CheckoutState = { startingId: string | null; error: string | null };

export type Checkout = {
  state: Signal<CheckoutState>;
  /** Orders a price and opens the page for payment or approval. */
  start(priceId: string): Promise<void>;
  /** Enables the buttons again when the user comes back. Returns a function that stops it. */
  watch(): () => void;
};

/** Returns the checkout of a page. `route` opens a page of the dashboard. */
export const useCheckout = (route: (path: string) => void): Checkout => useMemo(() => createCheckout(route), []);

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
