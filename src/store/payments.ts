/** Data about the payment provider: customers, subscriptions, and applied events. */
import { and, desc, eq, inArray, lt, ne } from "drizzle-orm";
import type { Queries } from "./db";
import { only, rowsOf } from "./rows";
import { paymentCustomers, paymentEvents, subscriptions } from "./schema-billing";

const paymentCustomerRows = rowsOf(paymentCustomers);
const paymentEventRows = rowsOf(paymentEvents);
const subscriptionRows = rowsOf(subscriptions);

export type Subscription = typeof subscriptions.$inferSelect;

export const findCustomerId = async (db: Queries, workspaceId: string): Promise<string | null> =>
  (await paymentCustomerRows.find(db, { workspace_id: workspaceId }))?.provider_customer_id ?? null;

export const isKnownCustomer = (db: Queries, customerId: string) =>
  paymentCustomerRows.has(db, { provider_customer_id: customerId });

/** Stores the customer of a workspace, unless it has one. */
export const insertCustomer = paymentCustomerRows.addOnce;

export const deleteCustomer = paymentCustomerRows.deleteBy(paymentCustomers.workspace_id);

export const hasPaymentEvent = (db: Queries, id: string) => paymentEventRows.has(db, { id });

export const insertPaymentEvent = paymentEventRows.add;

export const deletePaymentEventsBefore = paymentEventRows.deleteBy(paymentEvents.received_at, lt);

export const findSubscription = subscriptionRows.findBy(subscriptions.provider_subscription_id);

/** Returns the newest subscription of a workspace that has not ended, or null. */
export const findCurrentSubscription = (db: Queries, workspaceId: string) =>
  subscriptionRows.find(
    db,
    and(eq(subscriptions.workspace_id, workspaceId), ne(subscriptions.state, "cancelled")),
    desc(subscriptions.id),
  );

/** Lists a workspace's subscriptions that renew. Excludes those with an open first payment, which may never start. */
export const listRenewingSubscriptions = (db: Queries, workspaceId: string) =>
  subscriptionRows.list(
    db,
    and(
      eq(subscriptions.workspace_id, workspaceId),
      inArray(subscriptions.state, ["active", "past_due"]),
      eq(subscriptions.is_ending, false),
    ),
  );

export const insertSubscription = subscriptionRows.insert;

export const updateSubscription = (
  tx: Queries,
  id: string,
  change: Partial<
    Pick<Subscription, "state" | "current_period_end" | "is_ending" | "provider_updated_at" | "ended_at">
  >,
) => only(tx.update(subscriptions).set(change).where(eq(subscriptions.id, id)).returning());
