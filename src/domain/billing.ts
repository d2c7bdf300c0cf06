/** Payments: prices, what a payment provider does and reports, and the credits that a refund takes back. */
import { AppError } from "./errors";
import type { PRICE_KINDS, PriceInterval, SubscriptionState } from "./states";

export const MAX_PRICE_ID_CHARACTERS = 120;
/** Far above any studio's use, and far below where sums lose precision. */
export const MAX_PRICE_CREDITS = 1_000_000_000;
export const MAX_PRICE_AMOUNT = 1_000_000_000_000;

export type PriceKind = (typeof PRICE_KINDS)[number];

/** A price as configured. `amount` is in the currency's smallest unit. `interval` is null for a pack. */
export type Price = {
  id: string;
  name: string;
  kind: PriceKind;
  credits: number;
  amount: number;
  currency: string;
  interval: PriceInterval | null;
  stripePrice: string | null;
  active: boolean;
};

/**
 * What the provider says about an invoice. `orderId` is what the checkout gave it; null for an invoice of something else. `providerSubscriptionId`:
 * it is for a period of this subscription. `grantsCredits` is false for an invoice that pays for no new period, such as a change of the subscription.
 */
export type ProviderInvoice = {
  paymentInvoiceId: string;
  orderId: string | null;
  providerSubscriptionId: string | null;
  isPaid: boolean;
  grantsCredits: boolean;
  amount: number;
  currency: string;
  url: string | null;
  createdAt: number;
};

export type ProviderSubscription = {
  providerSubscriptionId: string;
  orderId: string | null;
  state: SubscriptionState;
  currentPeriodEnd: number | null;
  isEnding: boolean;
};

/** What a signed event of the provider means. Times are milliseconds since 1970. */
export type PaymentEvent = { id: string; type: string; occurredAt: number } & (
  | {
      /** A checkout ended. `invoice` is null unless it is a paid one of a pack: a subscription's invoice has events of its own. */
      kind: "checkout";
      orderId: string | null;
      outcome: "paid" | "waiting" | "failed" | "expired";
      invoice: ProviderInvoice | null;
    }
  | { kind: "invoice"; outcome: "paid" | "failed"; attempt: number; invoice: ProviderInvoice }
  | { kind: "subscription"; subscription: ProviderSubscription }
  | {
      /** `amountRefunded` is the sum of all refunds of the payment so far. */
      kind: "refund";
      customerId: string | null;
      paymentIntentId: string | null;
      amountRefunded: number;
    }
  /** Of no interest. */
  | { kind: "other" }
);

export type CheckoutRequest = {
  orderId: string;
  workspaceId: string;
  customerId: string;
  kind: PriceKind;
  stripePrice: string;
  /** Where the browser returns to, after the payment and without one. */
  returnUrl: string;
};

/** A started checkout. `amount` and `currency` are what the provider will ask for, without taxes; null if it does not say. */
export type StartedCheckout = { id: string; url: string; amount: number | null; currency: string | null };

/** A started checkout as the provider has it. `complete`: the user has paid, or chose a payment method that takes days. `url`: only of an open one. */
export type CheckoutState = { id: string; state: "open" | "complete" | "expired"; url: string | null };

/** The customer of a request was deleted at the provider. */
export class CustomerMissingError extends AppError<"upstream_error"> {}

/**
 * A payment provider. Calls throw `AppError`: `upstream_unavailable` when it does not respond, `upstream_error` when it refuses, which a retry does
 * not change.
 */
export type PaymentGateway = {
  /** Creates the customer of a workspace, once however often it is called. `replaces`: one that is missing. Returns its ID. */
  createCustomer(customer: { workspaceId: string; email: string; replaces: string | null }): Promise<string>;
  /** Starts the checkout of an order, once however often it is called. Throws `CustomerMissingError`. */
  startCheckout(request: CheckoutRequest): Promise<StartedCheckout>;
  readCheckout(id: string): Promise<CheckoutState>;
  /** Makes a checkout unusable. Does nothing to one that has ended. */
  expireCheckout(id: string): Promise<void>;
  /** Ends a subscription with its paid period, or at once. Returns its new state. */
  endSubscription(id: string, when: "period_end" | "now"): Promise<ProviderSubscription>;
  /** Returns the invoice that a payment paid, or null. */
  findInvoiceOfPayment(paymentIntentId: string): Promise<ProviderInvoice | null>;
  /** Returns what a received event means. Throws `AppError` `bad_request` unless its signature is valid and recent. */
  readEvent(body: string, signature: string | null): Promise<PaymentEvent>;
};

/** Returns the credits that refunds of `amountRefunded` take back: all for a full refund, a proportional share otherwise, rounded down. */
export function computeRefundedCredits(invoice: { credits: number; amount: number; amountRefunded: number }): number {
  const { credits, amount, amountRefunded } = invoice;
  if (amountRefunded <= 0) return 0;
  if (amountRefunded >= amount) return credits;
  // The product exceeds what a number represents exactly.
  return Number((BigInt(credits) * BigInt(amountRefunded)) / BigInt(amount));
}

/** How far a subscription has come, to order events of the same second. */
const SUBSCRIPTION_RANK: Record<SubscriptionState, number> = { incomplete: 0, past_due: 1, active: 2, cancelled: 3 };

type SubscriptionVersion = {
  state: SubscriptionState;
  currentPeriodEnd: number | null;
  isEnding: boolean;
  /** The provider's time; null before its first event. */
  updatedAt: number | null;
};

/** Returns whether `next` replaces `current`: the provider's time decides, in seconds, and the progress within one. Nothing follows `cancelled`. */
export function isNewerSubscription(next: SubscriptionVersion, current: SubscriptionVersion): boolean {
  if (current.state === "cancelled") return false;
  if (next.state === "cancelled") return true;
  const order = (version: SubscriptionVersion): number[] => [
    version.updatedAt ?? 0,
    SUBSCRIPTION_RANK[version.state],
    version.currentPeriodEnd ?? 0,
    version.isEnding ? 1 : 0,
  ];
  const [a, b] = [order(next), order(current)];
  const differing = a.findIndex((value, i) => value !== b[i]);
  return differing >= 0 && a[differing]! > b[differing]!;
}
