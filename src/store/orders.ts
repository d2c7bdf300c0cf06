/** Orders: a checkout of a price, as the price was then. */
import { and, count, desc, eq, gt, or, type SQL } from "drizzle-orm";
import type { ORDER_STATES } from "../domain/states";
import type { Queries } from "./db";
import { users, workspaces } from "./schema-accounts";
import { orders } from "./schema-billing";

export type Order = typeof orders.$inferSelect;
type OrderState = (typeof ORDER_STATES)[number];

export async function insertOrder(tx: Queries, order: typeof orders.$inferInsert): Promise<Order> {
  const [row] = await tx.insert(orders).values(order).returning();
  return row!;
}

export async function getOrder(db: Queries, id: string): Promise<Order | null> {
  const [row] = await db.select().from(orders).where(eq(orders.id, id)).limit(1);
  return row ?? null;
}

/** Returns the order if it is of this workspace, or null. */
export async function findOrder(db: Queries, workspaceId: string, id: string): Promise<Order | null> {
  const [row] = await db
    .select()
    .from(orders)
    .where(and(eq(orders.id, id), eq(orders.workspace_id, workspaceId)))
    .limit(1);
  return row ?? null;
}

/** Changes the state of an order if it is in one of `from`. Returns the changed order, or null. */
export async function updateOrderState(
  tx: Queries,
  id: string,
  from: OrderState[],
  change: { state: OrderState; decided_by?: string; decided_at: number },
): Promise<Order | null> {
  const [row] = await tx
    .update(orders)
    .set(change)
    .where(and(eq(orders.id, id), or(...from.map((state) => eq(orders.state, state)))))
    .returning();
  return row ?? null;
}

/** Stores the provider's checkout of an order. Returns false if the order is not pending any more. */
export async function setOrderCheckout(tx: Queries, id: string, providerCheckoutId: string): Promise<boolean> {
  const rows = await tx
    .update(orders)
    .set({ provider_checkout_id: providerCheckoutId })
    .where(and(eq(orders.id, id), eq(orders.state, "pending")))
    .returning({ id: orders.id });
  return rows.length > 0;
}

/** Deletes an order that is still pending, because its checkout could not be started. */
export async function deletePendingOrder(tx: Queries, id: string): Promise<void> {
  await tx.delete(orders).where(and(eq(orders.id, id), eq(orders.state, "pending")));
}

/** Counts the pending orders of a workspace that were created after `since`. */
export async function countPendingOrders(db: Queries, workspaceId: string, since: number): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(orders)
    .where(and(eq(orders.workspace_id, workspaceId), eq(orders.state, "pending"), gt(orders.created_at, since)));
  return row?.n ?? 0;
}

/** Closes the pending orders of a workspace that is deleted. */
export async function closeOrders(tx: Queries, workspaceId: string, now: number): Promise<void> {
  await tx
    .update(orders)
    .set({ state: "expired", decided_at: now })
    .where(and(eq(orders.workspace_id, workspaceId), eq(orders.state, "pending")));
}

/** Gives the orders of a workspace another ID, and those that its owner decided another administrator's. */
export async function moveOrders(tx: Queries, account: { userId: string; randomId: string }): Promise<void> {
  const { userId, randomId } = account;
  await tx.update(orders).set({ workspace_id: randomId }).where(eq(orders.workspace_id, userId));
  await tx.update(orders).set({ decided_by: randomId }).where(eq(orders.decided_by, userId));
}

/** An order as administrators see it. `workspace` and `user` are null once they are deleted. */
export type ListedOrder = {
  order: Order;
  workspace: { id: string; name: string } | null;
  user: { id: string; email: string } | null;
};

type Page = { limit: number; offset: number };

const selectListedOrders = (db: Queries) =>
  db
    .select({
      order: orders,
      workspace: { id: workspaces.id, name: workspaces.name },
      user: { id: users.id, email: users.email },
    })
    .from(orders)
    .leftJoin(workspaces, eq(workspaces.id, orders.workspace_id))
    .leftJoin(users, eq(users.id, orders.user_id));

async function countOrders(db: Queries, condition: SQL | undefined): Promise<number> {
  const [row] = await db.select({ n: count() }).from(orders).where(condition);
  return row?.n ?? 0;
}

/** Lists the orders of all workspaces, newest first. */
export async function listAllOrders(
  db: Queries,
  filter: { state?: OrderState | undefined; provider?: Order["provider"] | undefined },
  { limit, offset }: Page,
): Promise<{ rows: ListedOrder[]; total: number }> {
  const condition = and(
    filter.state === undefined ? undefined : eq(orders.state, filter.state),
    filter.provider === undefined ? undefined : eq(orders.provider, filter.provider),
  );
  const rows = await selectListedOrders(db).where(condition).orderBy(desc(orders.id)).limit(limit).offset(offset);
  return { rows, total: await countOrders(db, condition) };
}

/** Returns an order of any workspace, or null. */
export async function findListedOrder(db: Queries, id: string): Promise<ListedOrder | null> {
  const [row] = await selectListedOrders(db).where(eq(orders.id, id)).limit(1);
  return row ?? null;
}

/** Lists the orders of a workspace, newest first. */
export async function listOrders(
  db: Queries,
  workspaceId: string,
  { limit, offset }: Page,
): Promise<{ rows: Order[]; total: number }> {
  const condition = eq(orders.workspace_id, workspaceId);
  const rows = await db.select().from(orders).where(condition).orderBy(desc(orders.id)).limit(limit).offset(offset);
  return { rows, total: await countOrders(db, condition) };
}
