/** Starts checkouts: at the payment provider, or with the offline provider an order that an administrator approves. */
import {
  type CheckoutRequest,
  type CheckoutState,
  CustomerMissingError,
  type PaymentGateway,
  type Price,
  type StartedCheckout,
} from "../../domain/billing";
import { AppError, conflict, invalidField, retryLater } from "../../domain/errors";
import type { Queries } from "../../store/db";
import { deletePendingOrder, type Order, setOrderCheckout, updateOrderState } from "../../store/orders";
import { deleteCustomer, findCurrentSubscription, findCustomerId, insertCustomer } from "../../store/payments";
import type { User } from "../../store/users";
import type { CoreNeeds } from "../needs";
import { notifyAdmins } from "../notifications/notifications";
import type { BillingNeeds } from "./needs";
import { createOrder } from "./orders";
import { readBillingMode } from "./prices";

type Buyer = { user: User; workspaceId: string };

/** Returns the page of an order. A session acts in the personal workspace, unless the URL names another one. */
export function getOrderUrl(
  { publicUrl }: BillingNeeds,
  order: Pick<Order, "id" | "workspace_id">,
  userId: string,
): string {
  const workspace = order.workspace_id === userId ? "" : `?workspace_id=${order.workspace_id}`;
  return `${publicUrl()}/orders/${order.id}${workspace}`;
}

/**
 * Returns an active price. Throws `AppError` `validation_error` on `body.price_id`; `conflict` while billing is off.
 */
export async function getActivePrice({ config, store }: CoreNeeds, id: string): Promise<Price> {
  if ((await readBillingMode(config, store.read)) === "off")
    throw conflict("Billing is off on this server. Nothing costs credits.");
  const price = config.price.find((one) => one.id === id && one.active);
  if (price) return price;
  throw invalidField("body.price_id", "must be the price_id of an active price", id);
}

/**
 * Creates an order of the offline provider, and notifies the administrators. Part of a transaction. Throws `AppError`
 * `conflict`.
 */
export async function orderOffline(
  tx: Queries,
  { user, workspaceId }: Buyer,
  price: Price,
  now: number,
): Promise<Order> {
  const order = await createOrder(tx, { workspaceId, userId: user.id }, { provider: "offline", price }, now);
  const { price_name, credits, amount, currency } = order;
  const payload = { order_id: order.id, price_name, credits, amount, currency, ordered_by: user.email };
  await notifyAdmins(tx, { type: "order_pending", payload, cause: order.id, now });
  return order;
}

/**
 * Starts a checkout at the payment provider and calls `complete` with its URL in the transaction that stores it. If
 * that returns false, or anything fails, no order remains. Throws `AppError` `conflict`, `upstream_unavailable`,
 * `upstream_error`.
 */
export async function startProviderCheckout(
  services: BillingNeeds & { payments: PaymentGateway },
  buyer: Buyer,
  price: Price,
  complete: (tx: Queries, url: string) => Promise<boolean>,
): Promise<void> {
  const { store, now } = services;
  const { user, workspaceId } = buyer;
  const order = await store.write(async (tx) => {
    if (price.kind === "subscription" && (await hasPaidSubscription(tx, workspaceId)))
      throw conflict("Workspace has a subscription already.");
    return createOrder(tx, { workspaceId, userId: user.id }, { provider: "stripe", price }, now());
  });
  let checkoutId: string | null = null;
  try {
    const checkout = await startWithCustomer(services, buyer, {
      orderId: order.id,
      workspaceId,
      kind: price.kind,
      stripePrice: price.stripePrice!,
      returnUrl: getOrderUrl(services, order, user.id),
    });
    checkoutId = checkout.id;
    requireSamePrice(services, price, checkout);
    const isUsed = await store.write(async (tx) => {
      // Orders are listed from their start, so that one can be cancelled before its checkout exists.
      if (!(await setOrderCheckout(tx, order.id, checkout.id)))
        throw conflict("Order was cancelled while its checkout started.");
      const used = await complete(tx, checkout.url);
      if (!used) await deletePendingOrder(tx, order.id);
      return used;
    });
    if (!isUsed) await expire(services, checkout.id);
  } catch (error) {
    await store.write((tx) => deletePendingOrder(tx, order.id));
    if (checkoutId !== null) await expire(services, checkoutId);
    throw error;
  }
}

/** A subscription with an open first payment does not count: its checkout may have been abandoned. */
async function hasPaidSubscription(tx: Queries, workspaceId: string): Promise<boolean> {
  const subscription = await findCurrentSubscription(tx, workspaceId);
  return subscription !== null && subscription.state !== "incomplete";
}

async function expire({ payments, log }: BillingNeeds & { payments: PaymentGateway }, id: string): Promise<void> {
  await payments.expireCheckout(id).catch((error) => log.warn("checkout.expiry_failed", { error }));
}

/** Starts a checkout with the customer of the workspace, or with a new one if that was deleted at the provider. */
async function startWithCustomer(
  services: BillingNeeds & { payments: PaymentGateway },
  buyer: Buyer,
  request: Omit<CheckoutRequest, "customerId">,
): Promise<StartedCheckout> {
  const { payments, store } = services;
  const known = await findCustomerId(store.read, buyer.workspaceId);
  try {
    return await payments.startCheckout({
      ...request,
      customerId: known ?? (await createCustomer(services, buyer, null)),
    });
  } catch (error) {
    if (!(error instanceof CustomerMissingError) || known === null) throw error;
    await store.write((tx) => deleteCustomer(tx, buyer.workspaceId));
    return payments.startCheckout({ ...request, customerId: await createCustomer(services, buyer, known) });
  }
}

async function createCustomer(
  { store, now, payments }: BillingNeeds & { payments: PaymentGateway },
  { user, workspaceId }: Buyer,
  replaces: string | null,
): Promise<string> {
  const id = await payments.createCustomer({ workspaceId, email: user.email, replaces });
  await store.write((tx) =>
    insertCustomer(tx, { workspace_id: workspaceId, provider_customer_id: id, created_at: now() }),
  );
  return id;
}

/** Users must pay the price that they were shown. */
function requireSamePrice(
  { log }: CoreNeeds,
  price: Price,
  asked: { amount: number | null; currency: string | null },
): void {
  const { amount, currency } = asked;
  if ((amount === null || amount === price.amount) && (currency === null || currency === price.currency)) return;
  log.error("checkout.price_differs", {
    price: price.id,
    configured: `${price.amount} ${price.currency}`,
    at_provider: `${amount} ${currency}`,
  });
  throw new AppError("upstream_error", `Price "${price.id}" differs from its price at Stripe. Ask an administrator.`);
}

/**
 * Returns the URL to pay a pending order; for an offline order, its page. Throws `AppError` `conflict` for an order
 * that can no longer be paid, `upstream_unavailable`, `upstream_error`.
 */
export async function continueCheckout(services: BillingNeeds, order: Order, userId: string): Promise<string> {
  requirePending(order);
  if (order.provider === "offline") return getOrderUrl(services, order, userId);
  const { checkout } = await getCheckout(services, order);
  if (checkout === null || checkout.state === "expired" || checkout.url === null)
    throw conflict("Checkout of the order has expired. Cancel the order and create a new one.");
  requireUnpaid(checkout);
  return checkout.url;
}

/**
 * Cancels a pending order, which becomes `expired`, and its checkout. Returns the order. Throws `AppError` `conflict`
 * for an order that is decided or was paid, `upstream_unavailable`, `upstream_error`.
 */
export async function cancelOrder(services: BillingNeeds, order: Order): Promise<Order> {
  requirePending(order);
  if (order.provider === "stripe") {
    const { payments, checkout } = await getCheckout(services, order);
    if (checkout !== null) requireUnpaid(checkout);
    if (checkout?.state === "open") await payments.expireCheckout(checkout.id);
  }
  const { store, now } = services;
  // An event or an administrator may have decided the order first.
  const cancelled = await store.write((tx) =>
    updateOrderState(tx, order.id, ["pending"], { state: "expired", decided_at: now() }),
  );
  if (!cancelled) throw conflict("Order has already been decided. Retrieve it again.");
  return cancelled;
}

function requirePending({ state }: Order): void {
  if (state !== "pending") throw conflict(`Order is already ${state}.`);
}

function requireUnpaid({ state }: CheckoutState): void {
  if (state === "complete")
    throw conflict("Order is being paid. Its credits are added when Stripe confirms the payment.");
}

/** Returns the checkout of an order; null if its start was interrupted. */
async function getCheckout({ payments }: BillingNeeds, { provider_checkout_id: id }: Order) {
  if (!payments) throw retryLater("upstream_unavailable", "Stripe is not configured.", 3600);
  return { payments, checkout: id === null ? null : await payments.readCheckout(id) };
}
