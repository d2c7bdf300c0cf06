/** The entries of prices, orders, invoices and credits. */
import { sql } from "drizzle-orm";
import { insertPendingOrder } from "../prices";
import type { Entry } from "./entries";
import type { Fixtures } from "./fixtures";

const newOrder = async ({ server, workspaceId, owner }: Fixtures): Promise<Record<string, string>> => ({
  order_id: await insertPendingOrder(server, workspaceId, owner.userId),
});

/** Closes the orders of earlier callers, because a workspace can have only a few pending ones. */
async function closeOrders({ server }: Fixtures): Promise<Record<string, string>> {
  await server.services().store.write(async (tx) => {
    await tx.run(sql`UPDATE orders SET state = 'rejected' WHERE state = 'pending'`);
  });
  return {};
}

export const BILLING_ENTRIES: Record<string, Entry> = {
  "GET /billing": { allowed: "200" },
  "GET /billing/prices": { allowed: "200" },
  "POST /billing/checkout": { allowed: "200", body: () => ({ price_id: "pack-600" }), make: closeOrders },
  "GET /billing/orders": { allowed: "200" },
  "GET /billing/orders/:order_id": { allowed: "200" },
  "POST /billing/orders/:order_id/checkout": { allowed: "200", make: newOrder },
  "POST /billing/orders/:order_id/cancel": { allowed: "200", make: newOrder },
  "GET /billing/invoices": { allowed: "200" },
  "GET /billing/subscription": { allowed: "200" },
  // The workspace has no subscription.
  "DELETE /billing/subscription": { allowed: "404 not_found" },
  // Stripe is not configured.
  "POST /billing/webhook": { allowed: "404 not_found" },
  "GET /credits/balance": { allowed: "200" },
  "GET /credits/holds": { allowed: "200" },
  "GET /credits/history/export": { allowed: "200" },
  "GET /admin/orders": { allowed: "200" },
  "GET /admin/orders/:order_id": { allowed: "200" },
  "POST /admin/orders/:order_id/approve": { allowed: "200", make: newOrder },
  "POST /admin/orders/:order_id/reject": { allowed: "200", make: newOrder },
};
