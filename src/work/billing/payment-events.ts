/**
 * Applies signed events of the payment provider. Effects and the record of the event are one transaction, and each
 * effect follows from the stored rows: an event can arrive twice, late, or before the one that it follows. Credits are
 * those of the order, never those of an event.
 */
import type { PaymentEvent, PaymentGateway, ProviderInvoice } from "../../domain/billing";
import type { Queries } from "../../store/db";
import { findInvoice, type Invoice } from "../../store/invoices";
import { findOrderById, type Order, updateOrderState } from "../../store/orders";
import { deletePaymentEventsBefore, hasPaymentEvent, insertPaymentEvent, isKnownCustomer } from "../../store/payments";
import { findWorkspaceById } from "../../store/workspaces";
import type { CoreNeeds } from "../needs";
import { notify } from "../notifications/notifications";
import { recordInvoice, recordRefund, settleInvoice } from "./invoices";
import { recordSubscription } from "./subscriptions";

export type PaymentEventNeeds = CoreNeeds & { payments: PaymentGateway };

type EventOf<Kind extends PaymentEvent["kind"]> = Extract<PaymentEvent, { kind: Kind }>;

/** Time for which applied events are stored. The provider repeats an event for 3 days, or on request for 30. */
const EVENTS_KEPT_MS = 90 * 24 * 3600 * 1000;

/**
 * `without_workspace`: the order's workspace was deleted, so no credits are added. `orphaned`: its subscription, which
 * would be charged again.
 */
type Outcome = { result: "applied" | "repeated" | "ignored" | "without_workspace"; orphaned: string | null };

const APPLIED: Outcome = { result: "applied", orphaned: null };
const IGNORED: Outcome = { result: "ignored", orphaned: null };
const WITHOUT_WORKSPACE: Outcome = { result: "without_workspace", orphaned: null };

/**
 * Applies an event. Ignores irrelevant events and those of other servers. Throws `AppError` `upstream_unavailable` or
 * `upstream_error` when a call to the provider fails: it sends the event again.
 */
export async function applyPaymentEvent(services: PaymentEventNeeds, event: PaymentEvent): Promise<void> {
  const { confirmedNow, store, now, log, payments } = services;
  if (event.kind === "other") return;
  const refunded = event.kind === "refund" ? await findRefundedInvoice(services, event) : null;
  const { result, orphaned } = await store.write(async (tx): Promise<Outcome> => {
    if (await hasPaymentEvent(tx, event.id)) return { result: "repeated", orphaned: null };
    const outcome = await applyInTransaction(tx, event, refunded, now());
    if (outcome.result === "applied") {
      const { id, type, occurredAt } = event;
      await deletePaymentEventsBefore(tx, confirmedNow() - EVENTS_KEPT_MS);
      await insertPaymentEvent(tx, { id, type, occurred_at: occurredAt, received_at: now() });
    }
    return outcome;
  });
  const level = result === "without_workspace" ? "warn" : "info";
  log[level]("payment_event.received", { event: event.id, type: event.type, result });
  if (orphaned !== null) {
    await payments.endSubscription(orphaned, "now");
    log.warn("subscription.ended_without_workspace", { subscription: orphaned });
  }
}

function applyInTransaction(
  tx: Queries,
  event: PaymentEvent,
  refunded: ProviderInvoice | null,
  now: number,
): Promise<Outcome> {
  switch (event.kind) {
    case "checkout":
      return applyCheckout(tx, event, now);
    case "invoice":
      return applyInvoice(tx, event, now);
    case "subscription":
      return applySubscription(tx, event, now);
    case "refund":
      return applyRefund(tx, event, refunded, now);
    default:
      return Promise.resolve(IGNORED);
  }
}

/** Returns the order that an event is about. `isOrphaned`: its workspace was deleted. */
async function findEventOrder(tx: Queries, id: string | null): Promise<{ order: Order; isOrphaned: boolean } | null> {
  const order = id === null ? null : await findOrderById(tx, id);
  if (order?.provider !== "stripe") return null;
  return { order, isOrphaned: (await findWorkspaceById(tx, order.workspace_id)) === null };
}

async function applyCheckout(tx: Queries, event: EventOf<"checkout">, now: number): Promise<Outcome> {
  const found = await findEventOrder(tx, event.orderId);
  if (!found) return IGNORED;
  if (found.isOrphaned) return WITHOUT_WORKSPACE;
  const { order } = found;
  const { outcome, invoice } = event;
  if (outcome === "paid") {
    await payOrder(tx, order, now);
    if (invoice) await applyPaidInvoice(tx, order, invoice, now);
  }
  if (outcome === "failed" || outcome === "expired") {
    const state = outcome === "failed" ? "rejected" : "expired";
    await updateOrderState(tx, order.id, ["pending"], { state, decided_at: now });
  }
  return APPLIED;
}

/** A payment overrides every earlier state. */
async function payOrder(tx: Queries, order: Order, now: number): Promise<void> {
  await updateOrderState(tx, order.id, ["pending", "rejected", "expired"], { state: "paid", decided_at: now });
}

async function applyPaidInvoice(tx: Queries, order: Order, reported: ProviderInvoice, now: number): Promise<Invoice> {
  const subscriptionId = await ensureSubscription(tx, order, reported, now);
  const invoice = await recordInvoice(tx, order, { ...reported, subscriptionId, hasFailed: false }, now);
  await settleInvoice(tx, invoice, now);
  return invoice;
}

/** Returns the ID of the subscription that an invoice is for, which may be reported later. */
async function ensureSubscription(
  tx: Queries,
  order: Order,
  { providerSubscriptionId, isPaid }: ProviderInvoice,
  now: number,
): Promise<string | null> {
  if (providerSubscriptionId === null) return null;
  const subscription = await recordSubscription(
    tx,
    order,
    {
      providerSubscriptionId,
      orderId: order.id,
      state: isPaid ? "active" : "incomplete",
      currentPeriodEnd: null,
      isEnding: false,
      updatedAt: null,
    },
    now,
  );
  return subscription.id;
}

async function applyInvoice(tx: Queries, event: EventOf<"invoice">, now: number): Promise<Outcome> {
  const { invoice: reported, outcome, attempt } = event;
  const found = await findEventOrder(tx, reported.orderId);
  if (!found) return IGNORED;
  if (found.isOrphaned) return WITHOUT_WORKSPACE;
  const { order } = found;
  if (outcome === "paid") {
    await payOrder(tx, order, now);
    await applyPaidInvoice(tx, order, reported, now);
    return APPLIED;
  }
  const subscriptionId = await ensureSubscription(tx, order, reported, now);
  const invoice = await recordInvoice(tx, order, { ...reported, subscriptionId, hasFailed: true }, now);
  if (invoice.paid_at === null && subscriptionId !== null) {
    await notify(tx, {
      type: "subscription_payment_failed",
      payload: {
        subscription_id: subscriptionId,
        price_id: order.price_id,
        price_name: order.price_name,
        amount: reported.amount,
        currency: reported.currency,
      },
      userId: order.user_id,
      workspaceId: order.workspace_id,
      cause: `${reported.paymentInvoiceId} ${attempt}`,
      now,
    });
  }
  return APPLIED;
}

async function applySubscription(tx: Queries, event: EventOf<"subscription">, now: number): Promise<Outcome> {
  const { subscription } = event;
  const found = await findEventOrder(tx, subscription.orderId);
  if (!found) return IGNORED;
  if (found.isOrphaned) {
    const isCharged = subscription.state !== "cancelled";
    return { ...WITHOUT_WORKSPACE, orphaned: isCharged ? subscription.providerSubscriptionId : null };
  }
  await recordSubscription(tx, found.order, { ...subscription, updatedAt: event.occurredAt }, now);
  return APPLIED;
}

/**
 * Fetches the invoice of a refunded payment from the provider. Returns null if the payment belongs to another server.
 */
async function findRefundedInvoice(
  { store, payments }: PaymentEventNeeds,
  { customerId, paymentIntentId, id }: EventOf<"refund">,
): Promise<ProviderInvoice | null> {
  if (customerId === null || paymentIntentId === null) return null;
  if (!(await isKnownCustomer(store.read, customerId)) || (await hasPaymentEvent(store.read, id))) return null;
  return payments.findInvoiceOfPayment(paymentIntentId);
}

async function applyRefund(
  tx: Queries,
  event: EventOf<"refund">,
  reported: ProviderInvoice | null,
  now: number,
): Promise<Outcome> {
  const invoice = await findInvoiceToRefund(tx, event, reported, now);
  if (!invoice) return IGNORED;
  await settleInvoice(tx, await recordRefund(tx, invoice, event.amountRefunded), now);
  return APPLIED;
}

/** A refund may be reported before the payment: the invoice is then applied with it. */
async function findInvoiceToRefund(
  tx: Queries,
  { paymentIntentId }: EventOf<"refund">,
  reported: ProviderInvoice | null,
  now: number,
): Promise<Invoice | null> {
  const found = await findEventOrder(tx, reported?.orderId ?? null);
  if (reported?.isPaid && found && !found.isOrphaned) {
    await payOrder(tx, found.order, now);
    return applyPaidInvoice(tx, found.order, reported, now);
  }
  const id = reported?.paymentInvoiceId ?? paymentIntentId;
  return id === null ? null : findInvoice(tx, id);
}
