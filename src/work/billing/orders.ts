/** Orders, and the approval of offline orders by an administrator. */
import type { Price } from "../../domain/billing";
import { conflict, requireFound } from "../../domain/errors";
import type { PAYMENT_PROVIDERS } from "../../domain/states";
import type { Queries } from "../../store/db";
import { insertInvoice } from "../../store/invoices";
import { countPendingOrders, findOrderById, insertOrder, type Order, updateOrderState } from "../../store/orders";
import { findWorkspaceById } from "../../store/workspaces";
import type { Actor } from "../access/access";
import { type AuditActor, recordAudit } from "../access/audit";
import { requireActingAdmin } from "../identity/administrators";
import { settleInvoice } from "./invoices";

const MAX_PENDING_ORDERS = 5;

/** Stripe checkouts expire after this time. */
const CHECKOUT_LIFETIME_MS = 24 * 3600 * 1000;

/** Creates a pending order at the current price. Throws `AppError` `conflict` if the workspace has too many. */
export async function createOrder(
  tx: Queries,
  { workspaceId, userId }: Actor,
  { provider, price }: { provider: (typeof PAYMENT_PROVIDERS)[number]; price: Price },
  now: number,
): Promise<Order> {
  const since = provider === "stripe" ? now - CHECKOUT_LIFETIME_MS : 0;
  if ((await countPendingOrders(tx, workspaceId, since)) >= MAX_PENDING_ORDERS) {
    throw conflict(
      `Limit of ${MAX_PENDING_ORDERS} pending orders reached. Cancel one, or wait until one is paid, rejected or expired.`,
    );
  }
  return insertOrder(tx, {
    workspace_id: workspaceId,
    user_id: userId,
    provider,
    state: "pending",
    price_id: price.id,
    price_name: price.name,
    price_kind: price.kind,
    credits: price.credits,
    amount: price.amount,
    currency: price.currency,
    interval: price.interval,
    created_at: now,
  });
}

/**
 * Approves an order: marks it as paid, creates its invoice and adds its credits, which makes waiting assets ready. Part
 * of a transaction. Throws `AppError` `not_found`, `forbidden`; `conflict` unless it is a pending order of the offline
 * provider whose workspace exists.
 */
export async function approveOrder(tx: Queries, actor: AuditActor, id: string, now: number): Promise<void> {
  const order = await decideOrder(tx, actor, { id, state: "paid", now });
  if (!(await findWorkspaceById(tx, order.workspace_id)))
    throw conflict("Workspace of the order was deleted. Reject the order.");
  const invoice = await insertInvoice(tx, {
    workspace_id: order.workspace_id,
    order_id: order.id,
    payment_invoice_id: `offline_${order.id}`,
    state: "paid",
    price_id: order.price_id,
    description: order.price_name,
    credits: order.credits,
    amount: order.amount,
    currency: order.currency,
    created_at: now,
    paid_at: now,
  });
  await settleInvoice(tx, invoice, now);
  await record(tx, actor, "order.approved", order, now);
}

/**
 * Rejects an order. Part of a transaction. Errors: `not_found`, `forbidden`; `conflict` unless it is a pending order of
 * the offline provider.
 */
export async function rejectOrder(tx: Queries, actor: AuditActor, id: string, now: number): Promise<void> {
  const order = await decideOrder(tx, actor, { id, state: "rejected", now });
  await record(tx, actor, "order.rejected", order, now);
}

async function decideOrder(
  tx: Queries,
  actor: AuditActor,
  { id, state, now }: { id: string; state: "paid" | "rejected"; now: number },
): Promise<Order> {
  await requireActingAdmin(tx, actor);
  const order = requireFound(await findOrderById(tx, id), "Order");
  if (order.provider !== "offline") throw conflict("Order is paid at Stripe: it needs no approval.");
  const decision = { state, decided_at: now };
  const decided = await updateOrderState(
    tx,
    id,
    ["pending"],
    actor.userId === null ? decision : { ...decision, decided_by: actor.userId },
  );
  if (!decided) throw conflict(`Order is already ${order.state}.`);
  return decided;
}

const record = (
  tx: Queries,
  actor: AuditActor,
  action: "order.approved" | "order.rejected",
  order: Order,
  now: number,
): Promise<void> => {
  const { id, workspace_id: workspaceId, price_id, credits, amount, currency } = order;
  const details = { price_id, credits, amount, currency };
  return recordAudit(tx, actor, { action, target: id, workspaceId, details }, now);
};
