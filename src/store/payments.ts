/** What is known of the payment provider: customers, subscriptions, and the events that were applied. */
import { and, desc, eq, inArray, lt, ne } from "drizzle-orm";
import type { Queries } from "./db";
import { paymentCustomers, paymentEvents, subscriptions } from "./schema-billing";

export type Subscription = typeof subscriptions.$inferSelect;

/** Returns the ID of the workspace's customer, or null. */
export async function findCustomerId(db: Queries, workspaceId: string): Promise<string | null> {
  const [row] = await db
    .select({ id: paymentCustomers.provider_customer_id })
    .from(paymentCustomers)
    .where(eq(paymentCustomers.workspace_id, workspaceId))
    .limit(1);
  return row?.id ?? null;
}

/** Returns whether a workspace is this customer. */
export async function isKnownCustomer(db: Queries, customerId: string): Promise<boolean> {
  const rows = await db
    .select({ id: paymentCustomers.workspace_id })
    .from(paymentCustomers)
    .where(eq(paymentCustomers.provider_customer_id, customerId))
    .limit(1);
  return rows.length > 0;
}

/** Stores the customer of a workspace, unless it has one. */
export async function insertCustomer(tx: Queries, row: typeof paymentCustomers.$inferInsert): Promise<void> {
  await tx.insert(paymentCustomers).values(row).onConflictDoNothing();
}

export async function deleteCustomer(tx: Queries, workspaceId: string): Promise<void> {
  await tx.delete(paymentCustomers).where(eq(paymentCustomers.workspace_id, workspaceId));
}

/** Returns whether an event was applied. */
export async function hasPaymentEvent(db: Queries, id: string): Promise<boolean> {
  const rows = await db.select({ id: paymentEvents.id }).from(paymentEvents).where(eq(paymentEvents.id, id)).limit(1);
  return rows.length > 0;
}

export async function insertPaymentEvent(tx: Queries, event: typeof paymentEvents.$inferInsert): Promise<void> {
  await tx.insert(paymentEvents).values(event);
}

/** Forgets events that were received before `time`. */
export async function deletePaymentEventsBefore(tx: Queries, time: number): Promise<void> {
  await tx.delete(paymentEvents).where(lt(paymentEvents.received_at, time));
}

export async function findSubscription(db: Queries, providerSubscriptionId: string): Promise<Subscription | null> {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(eq(subscriptions.provider_subscription_id, providerSubscriptionId))
    .limit(1);
  return row ?? null;
}

/** Returns the newest subscription of a workspace that has not ended, or null. */
export async function findCurrentSubscription(db: Queries, workspaceId: string): Promise<Subscription | null> {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.workspace_id, workspaceId), ne(subscriptions.state, "cancelled")))
    .orderBy(desc(subscriptions.id))
    .limit(1);
  return row ?? null;
}

/** Lists the subscriptions of a workspace that renew. One whose first payment is open may never start. */
export const listRenewingSubscriptions = (db: Queries, workspaceId: string): Promise<Subscription[]> =>
  db
    .select()
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.workspace_id, workspaceId),
        inArray(subscriptions.state, ["active", "past_due"]),
        eq(subscriptions.is_ending, false),
      ),
    );

export async function insertSubscription(tx: Queries, row: typeof subscriptions.$inferInsert): Promise<Subscription> {
  const [inserted] = await tx.insert(subscriptions).values(row).returning();
  return inserted!;
}

export async function updateSubscription(
  tx: Queries,
  id: string,
  change: Partial<
    Pick<Subscription, "state" | "current_period_end" | "is_ending" | "provider_updated_at" | "ended_at">
  >,
): Promise<Subscription> {
  const [row] = await tx.update(subscriptions).set(change).where(eq(subscriptions.id, id)).returning();
  return row!;
}
