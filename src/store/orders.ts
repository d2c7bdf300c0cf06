/** Orders: checkouts of a price as it was at that time. */
import { and, desc, eq, gt, or } from "drizzle-orm";
import type { OrderState } from "../domain/states";
import type { Queries } from "./db";
import { first, matchesFilter, type OffsetPage, readPage, rowsOf } from "./rows";
import { users, workspaces } from "./schema-accounts";
import { orders } from "./schema-billing";

const orderRows = rowsOf(orders);

export type Order = typeof orders.$inferSelect;

export const insertOrder = orderRows.insert;

export const findOrderById = orderRows.findById;

export const findOrder = (db: Queries, workspaceId: string, id: string) =>
  orderRows.find(db, { id, workspace_id: workspaceId });

/** Changes the state of an order if it is in one of `from`. Returns the changed order, or null. */
export const updateOrderState = (
  tx: Queries,
  id: string,
  from: OrderState[],
  change: { state: OrderState; decided_by?: string; decided_at: number },
) => orderRows.update(tx, change, and(eq(orders.id, id), or(...from.map((state) => eq(orders.state, state)))));

/** Stores the provider's checkout of an order. Returns false if the order is no longer pending. */
export const setOrderCheckout = (tx: Queries, id: string, providerCheckoutId: string) =>
  orderRows.updateAll(tx, { provider_checkout_id: providerCheckoutId }, { id, state: "pending" });

/** Deletes an order that is still pending because its checkout could not be started. */
export const deletePendingOrder = (tx: Queries, id: string) => orderRows.delete(tx, { id, state: "pending" });

/** Counts the pending orders of a workspace that were created after `since`. */
export const countPendingOrders = (db: Queries, workspaceId: string, since: number) =>
  orderRows.count(
    db,
    and(eq(orders.workspace_id, workspaceId), eq(orders.state, "pending"), gt(orders.created_at, since)),
  );

/** Closes the pending orders of a workspace that is being deleted. */
export const closeOrders = (tx: Queries, workspaceId: string, now: number) =>
  orderRows.updateAll(tx, { state: "expired", decided_at: now }, { workspace_id: workspaceId, state: "pending" });

/** Moves the orders of a workspace to another ID, and anonymizes the decisions of its owner as an administrator. */
export async function moveOrders(tx: Queries, account: { userId: string; randomId: string }): Promise<void> {
  const { userId, randomId } = account;
  await tx.update(orders).set({ workspace_id: randomId }).where(eq(orders.workspace_id, userId));
  await tx.update(orders).set({ decided_by: randomId }).where(eq(orders.decided_by, userId));
}

/** An order in the view of administrators. `workspace` and `user` are null once they are deleted. */
export type ListedOrder = Awaited<ReturnType<typeof selectListedOrders>>[number];

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

/** Lists the orders of all workspaces, newest first. */
export async function listAllOrders(db: Queries, filter: Partial<Pick<Order, "state" | "provider">>, page: OffsetPage) {
  const condition = matchesFilter(orders, filter);
  const query = selectListedOrders(db).where(condition).orderBy(desc(orders.id));
  return readPage(query, page, orderRows.count(db, condition));
}

/** Returns an order of any workspace, or null. */
export const findListedOrder = (db: Queries, id: string) =>
  first(selectListedOrders(db).where(eq(orders.id, id)).limit(1));

/** Lists the orders of a workspace, newest first. */
export const listOrders = (db: Queries, workspaceId: string, page: OffsetPage) =>
  orderRows.listPage(db, { workspace_id: workspaceId }, page, desc(orders.id));
