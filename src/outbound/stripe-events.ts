/**
 * Interprets Stripe's objects. An event destination has its own API version, so fields that have moved between versions
 * are read from both places. Only properties that are checked here are relied on.
 */
import type { PaymentEvent, ProviderInvoice, ProviderSubscription } from "../domain/billing";
import type { SubscriptionState } from "../domain/states";

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** Returns the object in a field, or an empty one. */
const object = (fields: Fields, ...path: string[]): Fields =>
  path.reduce<Fields>((inner, name) => (isFields(inner[name]) ? inner[name] : {}), fields);
const text = (fields: Fields, name: string): string | null => {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : null;
};
const number = (fields: Fields, name: string): number | null => {
  const value = fields[name];
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
};
const time = (fields: Fields, name: string): number | null => {
  const seconds = number(fields, name);
  return seconds === null ? null : seconds * 1000;
};
/** Returns the ID in a field that contains an ID or an expanded object. */
const reference = (fields: Fields, name: string): string | null =>
  text(fields, name) ?? text(object(fields, name), "id");

const MAX_URL_CHARACTERS = 2_000;

const readUrl = (fields: Fields, name: string): string | null => {
  const url = text(fields, name);
  return url !== null && url.length <= MAX_URL_CHARACTERS && /^https?:\/\//.test(url) ? url : null;
};

/** Invoices that start a period. Others are for changes in between. */
const PERIOD_REASONS = ["subscription_create", "subscription_cycle", "subscription"];

export function toProviderInvoice(invoice: object): ProviderInvoice {
  const fields = invoice as Fields;
  // Before 2025-03-31 the subscription was in the invoice itself.
  const parent = object(fields, "parent", "subscription_details");
  const details = Object.keys(parent).length > 0 ? parent : object(fields, "subscription_details");
  const providerSubscriptionId = reference(parent, "subscription") ?? reference(fields, "subscription");
  const isPaid = fields.status === "paid";
  return {
    paymentInvoiceId: text(fields, "id") ?? "",
    orderId: text(object(fields, "metadata"), "order_id") ?? text(object(details, "metadata"), "order_id"),
    providerSubscriptionId,
    isPaid,
    grantsCredits: providerSubscriptionId === null || PERIOD_REASONS.includes(text(fields, "billing_reason") ?? ""),
    amount: number(fields, isPaid ? "amount_paid" : "amount_due") ?? 0,
    currency: text(fields, "currency") ?? "",
    url: readUrl(fields, "hosted_invoice_url"),
    createdAt: time(fields, "created") ?? 0,
  };
}

const STATES: Record<string, SubscriptionState> = {
  incomplete: "incomplete",
  incomplete_expired: "cancelled",
  trialing: "active",
  active: "active",
  past_due: "past_due",
  unpaid: "past_due",
  paused: "past_due",
  canceled: "cancelled",
};

export function toProviderSubscription(subscription: object): ProviderSubscription {
  const fields = subscription as Fields;
  const items = object(fields, "items").data;
  const [first] = Array.isArray(items) ? items : [];
  return {
    providerSubscriptionId: text(fields, "id") ?? "",
    orderId: text(object(fields, "metadata"), "order_id"),
    state: STATES[text(fields, "status") ?? ""] ?? "incomplete",
    // Since 2025-03-31, the period is a property of the subscription's items.
    currentPeriodEnd:
      (isFields(first) ? time(first, "current_period_end") : null) ?? time(fields, "current_period_end"),
    isEnding: fields.cancel_at_period_end === true || number(fields, "cancel_at") !== null,
  };
}

const CHECKOUT_OUTCOMES = {
  "checkout.session.completed": "paid",
  "checkout.session.async_payment_succeeded": "paid",
  "checkout.session.async_payment_failed": "failed",
  "checkout.session.expired": "expired",
} as const;

type CheckoutEvent = Extract<PaymentEvent, { kind: "checkout" }>;

function toCheckout(
  type: keyof typeof CHECKOUT_OUTCOMES,
  session: Fields,
): Omit<CheckoutEvent, "id" | "type" | "occurredAt"> {
  const outcome = CHECKOUT_OUTCOMES[type];
  const orderId = text(object(session, "metadata"), "order_id") ?? text(session, "client_reference_id");
  // Some payments, such as debits, take days: the session is then complete but unpaid.
  if (outcome === "paid" && session.payment_status === "unpaid")
    return { kind: "checkout", orderId, outcome: "waiting", invoice: null };
  if (outcome !== "paid" || session.mode !== "payment") return { kind: "checkout", orderId, outcome, invoice: null };
  const invoice: ProviderInvoice = {
    // A payment of zero has neither.
    paymentInvoiceId:
      reference(session, "invoice") ?? reference(session, "payment_intent") ?? text(session, "id") ?? "",
    orderId,
    providerSubscriptionId: null,
    isPaid: true,
    grantsCredits: true,
    amount: number(session, "amount_total") ?? 0,
    currency: text(session, "currency") ?? "",
    url: null,
    createdAt: time(session, "created") ?? 0,
  };
  return { kind: "checkout", orderId, outcome, invoice };
}

/** Converts an event with a valid signature. Unknown types, and anything that is not an event, become `other`. */
export function toPaymentEvent(event: unknown): PaymentEvent {
  const fields = isFields(event) ? event : {};
  const type = text(fields, "type") ?? "";
  const common = { id: text(fields, "id") ?? "", type, occurredAt: time(fields, "created") ?? 0 };
  const subject = object(fields, "data", "object");
  if (common.id === "" || text(subject, "id") === null) return { ...common, kind: "other" };
  if (Object.hasOwn(CHECKOUT_OUTCOMES, type))
    return { ...common, ...toCheckout(type as keyof typeof CHECKOUT_OUTCOMES, subject) };
  switch (type) {
    case "invoice.paid": {
      const invoice = toProviderInvoice(subject);
      if (!invoice.isPaid) break;
      return { ...common, kind: "invoice", outcome: "paid", attempt: 0, invoice };
    }
    case "invoice.payment_failed": {
      const attempt = number(subject, "attempt_count") ?? 0;
      return { ...common, kind: "invoice", outcome: "failed", attempt, invoice: toProviderInvoice(subject) };
    }
    case "customer.subscription.created":
    case "customer.subscription.updated":
    case "customer.subscription.deleted": {
      const subscription = toProviderSubscription(subject);
      const state = type.endsWith(".deleted") ? "cancelled" : subscription.state;
      return { ...common, kind: "subscription", subscription: { ...subscription, state } };
    }
    case "charge.refunded":
      return {
        ...common,
        kind: "refund",
        customerId: reference(subject, "customer"),
        paymentIntentId: reference(subject, "payment_intent"),
        amountRefunded: number(subject, "amount_refunded") ?? 0,
      };
  }
  return { ...common, kind: "other" };
}
