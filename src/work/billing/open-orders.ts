/** Pending orders: payment and cancellation by the user. */
import type { CheckoutState, PaymentGateway } from "../../domain/billing";
import { AppError } from "../../domain/errors";
import { type Order, updateOrderState } from "../../store/orders";
import { getOrderUrl } from "./checkout";
import type { BillingNeeds } from "./needs";

/**
 * Returns the URL to pay a pending order; for an offline order, its page. Throws `AppError` `conflict` for an order
 * that can no longer be paid, `upstream_unavailable`, `upstream_error`.
 */
export async function continueCheckout(services: BillingNeeds, order: Order, userId: string): Promise<string> {
  requirePending(order);
  if (order.provider === "offline") return getOrderUrl(services, order, userId);
  const { checkout } = await getCheckout(services, order);
  if (checkout === null || checkout.state === "expired" || checkout.url === null)
    throw new AppError("conflict", "Checkout of the order has expired. Cancel the order and create a new one.");
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
  if (!cancelled) throw new AppError("conflict", "Order has already been decided. Retrieve it again.");
  return cancelled;
}

function requirePending({ state }: Order): void {
  if (state !== "pending") throw new AppError("conflict", `Order is already ${state}.`);
}

function requireUnpaid({ state }: CheckoutState): void {
  if (state === "complete")
    throw new AppError("conflict", "Order is being paid. Its credits are added when Stripe confirms the payment.");
}

/** Returns the checkout of an order; null if its start was interrupted. */
async function getCheckout(
  { payments }: BillingNeeds,
  { provider_checkout_id: id }: Order,
): Promise<{ payments: PaymentGateway; checkout: CheckoutState | null }> {
  if (!payments) throw new AppError("upstream_unavailable", "Stripe is not configured.", { retryAfterSeconds: 3600 });
  return { payments, checkout: id === null ? null : await payments.readCheckout(id) };
}
