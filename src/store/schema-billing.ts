/**
 * The tables of orders, invoices, subscriptions and payment provider events. Times are in milliseconds since 1970,
 * amounts in the currency's smallest unit.
 */
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import {
  INVOICE_STATES,
  ORDER_STATES,
  PAYMENT_PROVIDERS,
  PRICE_INTERVALS,
  PRICE_KINDS,
  SUBSCRIPTION_STATES,
} from "../domain/states";
import { formerUser, workspaces } from "./schema-accounts";
import { belongsTo, id, time } from "./schema-columns";

/** Checkouts. They outlive their workspace under a random ID, so there is no foreign key. */
export const orders = sqliteTable(
  "orders",
  {
    id: id(),
    workspace_id: text().notNull(),
    /** The user who ordered; null once that account is purged. */
    user_id: formerUser(),
    provider: text({ enum: PAYMENT_PROVIDERS }).notNull(),
    state: text({ enum: ORDER_STATES }).notNull(),
    /** The price at the time of the order, because the configuration may change. */
    price_id: text().notNull(),
    price_name: text().notNull(),
    price_kind: text({ enum: PRICE_KINDS }).notNull(),
    credits: integer().notNull(),
    amount: integer().notNull(),
    currency: text().notNull(),
    interval: text({ enum: PRICE_INTERVALS }),
    /** The provider's checkout session; null for the offline provider. */
    provider_checkout_id: text(),
    /** The administrator who approved or rejected an offline order. */
    decided_by: text(),
    created_at: time().notNull(),
    decided_at: time(),
  },
  (t) => [
    index("orders_by_workspace").on(t.workspace_id, t.id),
    index("orders_by_state").on(t.state, t.id),
    index("orders_by_user").on(t.user_id),
    uniqueIndex("orders_by_checkout").on(t.provider_checkout_id),
  ],
);

/** Invoices of any provider. They outlive their workspace under a random ID. */
export const invoices = sqliteTable(
  "invoices",
  {
    id: id(),
    workspace_id: text().notNull(),
    order_id: text(),
    subscription_id: text(),
    /** The provider's ID, or `offline_…`. This is the `payment_invoice_id` of the ledger. */
    payment_invoice_id: text().notNull().unique(),
    state: text({ enum: INVOICE_STATES }).notNull(),
    price_id: text(),
    description: text(),
    credits: integer().notNull(),
    amount: integer().notNull(),
    amount_refunded: integer().notNull().default(0),
    currency: text().notNull(),
    /** The invoice's page at the provider. */
    url: text(),
    created_at: time().notNull(),
    paid_at: time(),
  },
  (t) => [index("invoices_by_workspace").on(t.workspace_id, t.id), index("invoices_by_order").on(t.order_id)],
);

export const subscriptions = sqliteTable(
  "subscriptions",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    /** The user who ordered it, and who is notified about failed payments. */
    user_id: formerUser(),
    provider: text({ enum: PAYMENT_PROVIDERS }).notNull(),
    provider_subscription_id: text().notNull().unique(),
    state: text({ enum: SUBSCRIPTION_STATES }).notNull(),
    price_id: text().notNull(),
    current_period_end: time(),
    is_ending: integer({ mode: "boolean" }).notNull().default(false),
    /** The provider's time of the last applied event. Older events change nothing. */
    provider_updated_at: time(),
    created_at: time().notNull(),
    ended_at: time(),
  },
  (t) => [index("subscriptions_by_workspace").on(t.workspace_id, t.id), index("subscriptions_by_user").on(t.user_id)],
);

export const paymentCustomers = sqliteTable("payment_customers", {
  workspace_id: text()
    .primaryKey()
    .references(() => workspaces.id, { onDelete: "cascade" }),
  provider_customer_id: text().notNull().unique(),
  created_at: time().notNull(),
});

/** Applied events of the payment provider, by the provider's ID, so that each is applied once. */
export const paymentEvents = sqliteTable(
  "payment_events",
  {
    id: id(),
    type: text().notNull(),
    /** The provider's time. */
    occurred_at: time().notNull(),
    received_at: time().notNull(),
  },
  (t) => [index("payment_events_by_age").on(t.received_at)],
);
