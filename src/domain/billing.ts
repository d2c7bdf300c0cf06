/** Payments: prices, operations and events of a payment provider, and the credits that a refund takes back. */
import { AppError } from "./errors";
import type { PRICE_KINDS, PriceInterval, SubscriptionState } from "./states";

export const MAX_PRICE_ID_CHARACTERS = 120;
/** Far above any studio's use, and far below the range in which sums lose precision. */
export const MAX_PRICE_CREDITS = 1_000_000_000;
export const MAX_PRICE_AMOUNT = 1_000_000_000_000;

/** Whether recordings, cuts and renders cost credits. */
export const BILLING_MODES = ["on", "off"] as const;
export type BillingMode = (typeof BILLING_MODES)[number];

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
 * An invoice of the provider. `orderId` is the ID that the checkout passed; null for other invoices.
 * `providerSubscriptionId` is set if it covers a period of that subscription. `grantsCredits` is false if it does not
 * pay for a new period, as for a change of the subscription.
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

/** The content of a signed event from the provider. Times are in milliseconds since 1970. */
export type PaymentEvent = { id: string; type: string; occurredAt: number } & (
  | {
      /** A checkout ended. `invoice` is set only for a paid pack: a subscription's invoices have their own events. */
      kind: "checkout";
      orderId: string | null;
      outcome: "paid" | "waiting" | "failed" | "expired";
      invoice: ProviderInvoice | null;
    }
  | { kind: "invoice"; outcome: "paid" | "failed"; attempt: number; invoice: ProviderInvoice }
  | { kind: "subscription"; subscription: ProviderSubscription }
  | {
      /** `amountRefunded` is the total of all refunds of the payment so far. */
      kind: "refund";
      customerId: string | null;
      paymentIntentId: string | null;
      amountRefunded: number;
    }
  /** An irrelevant event. */
  | { kind: "other" }
);

export type CheckoutRequest = {
  orderId: string;
  workspaceId: string;
  customerId: string;
  kind: PriceKind;
  stripePrice: string;
  /** The address to which the browser returns, with or without a payment. */
  returnUrl: string;
};

/** A started checkout. `amount` and `currency` are what the provider will charge, without taxes; null if unknown. */
export type StartedCheckout = { id: string; url: string; amount: number | null; currency: string | null };

/** The state of a started checkout. `complete`: the user has paid or chosen a slow method. Open ones have a `url`. */
export type CheckoutState = { id: string; state: "open" | "complete" | "expired"; url: string | null };

/** Thrown when the customer of a request was deleted at the provider. */
export class CustomerMissingError extends AppError<"upstream_error"> {}

/**
 * A payment provider. Calls throw `AppError`: `upstream_unavailable` if it does not respond, `upstream_error` if it
 * rejects the request, which a retry would not change.
 */
export type PaymentGateway = {
  /** Creates a workspace's customer, only once for repeated calls. `replaces` is a missing customer. Returns its ID. */
  createCustomer(customer: { workspaceId: string; email: string; replaces: string | null }): Promise<string>;
  /** Starts the checkout of an order, only once for repeated calls. Throws `CustomerMissingError`. */
  startCheckout(request: CheckoutRequest): Promise<StartedCheckout>;
  readCheckout(id: string): Promise<CheckoutState>;
  /** Invalidates a checkout. Does nothing if it has ended. */
  expireCheckout(id: string): Promise<void>;
  /** Ends a subscription, either at the end of the paid period or now. Returns its new state. */
  endSubscription(id: string, when: "period_end" | "now"): Promise<ProviderSubscription>;
  findInvoiceOfPayment(paymentIntentId: string): Promise<ProviderInvoice | null>;
  /** Parses a received event. Throws `AppError` `bad_request` unless its signature is valid and recent. */
  readEvent(body: string, signature: string | null): Promise<PaymentEvent>;
};

/** Returns the credits that refunds take back: all for a full refund, otherwise a proportional share, rounded down. */
export function computeRefundedCredits(invoice: { credits: number; amount: number; amountRefunded: number }): number {
  const { credits, amount, amountRefunded } = invoice;
  if (amountRefunded <= 0) return 0;
  if (amountRefunded >= amount) return credits;
  // The product can exceed the exact range of numbers.
  return Number((BigInt(credits) * BigInt(amountRefunded)) / BigInt(amount));
}

/** The progress of a subscription, which orders events of the same second. */
const SUBSCRIPTION_RANK: Record<SubscriptionState, number> = { incomplete: 0, past_due: 1, active: 2, cancelled: 3 };

type SubscriptionVersion = {
  state: SubscriptionState;
  currentPeriodEnd: number | null;
  isEnding: boolean;
  /** The provider's time; null before its first event. */
  updatedAt: number | null;
};

/** Returns whether `next` replaces `current`: by time, then by progress. Nothing follows `cancelled`. */
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
