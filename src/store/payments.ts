/** Data about the payment provider: customers, subscriptions, and applied events. */
import { and, desc, eq, inArray, lt, ne } from "drizzle-orm";
import type { Queries } from "./db";
import { deleteRows, findRow, hasRow, insertRow, listRows, only } from "./rows";
import { paymentCustomers, paymentEvents, subscriptions } from "./schema-billing";

export type Subscription = typeof subscriptions.$inferSelect;

/** Returns the ID of the workspace's customer, or null. */
export const findCustomerId = async (db: Queries, workspaceId: string): Promise<string | null> =>
  (await findRow(db, paymentCustomers, eq(paymentCustomers.workspace_id, workspaceId)))?.provider_customer_id ?? null;

/** Returns whether a workspace has this customer ID. */
export const isKnownCustomer = (db: Queries, customerId: string): Promise<boolean> =>
  hasRow(db, paymentCustomers, eq(paymentCustomers.provider_customer_id, customerId));

/** Stores the customer of a workspace, unless it has one. */
export async function insertCustomer(tx: Queries, row: typeof paymentCustomers.$inferInsert): Promise<void> {
  await tx.insert(paymentCustomers).values(row).onConflictDoNothing();
}

export const deleteCustomer = (tx: Queries, workspaceId: string): Promise<void> =>
  deleteRows(tx, paymentCustomers, eq(paymentCustomers.workspace_id, workspaceId));

/** Returns whether an event was applied. */
export const hasPaymentEvent = (db: Queries, id: string): Promise<boolean> =>
  hasRow(db, paymentEvents, eq(paymentEvents.id, id));

export async function insertPaymentEvent(tx: Queries, event: typeof paymentEvents.$inferInsert): Promise<void> {
  await tx.insert(paymentEvents).values(event);
}

/** Deletes events that were received before `time`. */
export const deletePaymentEventsBefore = (tx: Queries, time: number): Promise<void> =>
  deleteRows(tx, paymentEvents, lt(paymentEvents.received_at, time));

export const findSubscription = (db: Queries, providerSubscriptionId: string): Promise<Subscription | null> =>
  findRow(db, subscriptions, eq(subscriptions.provider_subscription_id, providerSubscriptionId));

/** Returns the newest subscription of a workspace that has not ended, or null. */
export const findCurrentSubscription = (db: Queries, workspaceId: string): Promise<Subscription | null> =>
  findRow(
    db,
    subscriptions,
    and(eq(subscriptions.workspace_id, workspaceId), ne(subscriptions.state, "cancelled")),
    desc(subscriptions.id),
  );

/** Lists a workspace's subscriptions that renew. Excludes those with an open first payment, which may never start. */
export const listRenewingSubscriptions = (db: Queries, workspaceId: string): Promise<Subscription[]> =>
  listRows(
    db,
    subscriptions,
    and(
      eq(subscriptions.workspace_id, workspaceId),
      inArray(subscriptions.state, ["active", "past_due"]),
      eq(subscriptions.is_ending, false),
    ),
  );

export const insertSubscription = (tx: Queries, row: typeof subscriptions.$inferInsert): Promise<Subscription> =>
  insertRow(tx, subscriptions, row);

export const updateSubscription = (
  tx: Queries,
  id: string,
  change: Partial<
    Pick<Subscription, "state" | "current_period_end" | "is_ending" | "provider_updated_at" | "ended_at">
  >,
): Promise<Subscription> => only(tx.update(subscriptions).set(change).where(eq(subscriptions.id, id)).returning());
