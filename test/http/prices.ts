/** Prices of a test server, and helpers for orders. */
import { newId } from "../../src/lib/ids";
import { insertOrder } from "../../src/store/orders";
import type { Harness } from "./harness";

/** The configuration: a pack, a subscription and a discontinued price. */
export const PRICES = `[[price]]
id = "pack-600"
name = "600 credits"
kind = "pack"
credits = 600
amount = 1200
currency = "EUR"
stripe_price = "price_pack600"

[[price]]
id = "studio-monthly"
name = "Studio"
kind = "subscription"
credits = 1000
amount = 1900
currency = "eur"
interval = "month"
stripe_price = "price_studio"

[[price]]
id = "old-pack"
name = "Old pack"
kind = "pack"
credits = 10
amount = 100
currency = "eur"
stripe_price = "price_old"
active = false
`;

/** Returns the ID of the order whose page a checkout returned. */
export const readOrderId = (url: string): string => /\/orders\/([^?]+)/.exec(url)![1]!;

/** Inserts a pending offline order, without the limit of pending ones. */
export async function insertPendingOrder(server: Harness, workspaceId: string, userId: string): Promise<string> {
  const { store, now } = server.services();
  const id = newId();
  await store.write((tx) =>
    insertOrder(tx, {
      id,
      workspace_id: workspaceId,
      user_id: userId,
      provider: "offline",
      state: "pending",
      price_id: "pack-600",
      price_name: "600 credits",
      price_kind: "pack",
      credits: 600,
      amount: 1200,
      currency: "eur",
      created_at: now(),
    }),
  );
  return id;
}
