/**
 * Payments for the kill test: orders at Stripe, and their events, which Stripe sends again until they are acknowledged.
 */
import Stripe from "stripe";
import { until } from "../../until";
import type { Server } from "../server";

const WEBHOOK_SECRET = "whsec_kills";
export const STRIPE_SETTINGS = { STRIPE_SECRET_KEY: "sk_test_kills", STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET };
export const ORDER_CREDITS = 5;

const { webhooks } = new Stripe(STRIPE_SETTINGS.STRIPE_SECRET_KEY);

const toOrderId = (n: number): string => `01a1fc62-d8c4-75df-a939-${String(n).padStart(12, "0")}`;

/** Stores orders of a pack, as their checkouts would. Stops the server. */
export async function storeOrders(server: Server, workspaceId: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await server.query(
      `INSERT INTO orders (id, workspace_id, user_id, provider, state, price_id, price_name, price_kind, credits, amount, currency, created_at)
       VALUES (?, ?, ?, 'stripe', 'pending', 'p', 'Pack', 'pack', ${ORDER_CREDITS}, 900, 'eur', ${n})`,
      toOrderId(n),
      workspaceId,
      workspaceId,
    );
  }
}

/** Reports the payment of an order in two events, each until it is acknowledged, and then once more. */
export async function reportPayment(server: Server, n: number): Promise<void> {
  const metadata = { order_id: toOrderId(n) };
  const created = Math.floor(Date.now() / 1000);
  const session = {
    id: `cs_${n}`,
    mode: "payment",
    payment_status: "paid",
    invoice: `in_${n}`,
    amount_total: 900,
    currency: "eur",
    metadata,
    created,
  };
  const invoice = { id: `in_${n}`, status: "paid", amount_paid: 900, currency: "eur", metadata, created };
  const events = [
    { id: `evt_checkout_${n}`, type: "checkout.session.completed", created, data: { object: session } },
    { id: `evt_invoice_${n}`, type: "invoice.paid", created, data: { object: invoice } },
  ];
  for (const event of [...events, ...events]) {
    const body = JSON.stringify({ object: "event", ...event });
    await until(
      `the acknowledgement of ${event.id}`,
      async () => {
        const header = await webhooks.generateTestHeaderStringAsync({ payload: body, secret: WEBHOOK_SECRET });
        const headers = { "Content-Type": "application/json", "Stripe-Signature": header };
        const url = `${server.url()}/api/v1/billing/webhook`;
        const { status } = await fetch(url, { method: "POST", body, headers }).catch(() => ({ status: 0 }));
        if (status >= 400) throw new Error(`${event.id}: ${status}`);
        return status === 204;
      },
      120,
    );
  }
}
