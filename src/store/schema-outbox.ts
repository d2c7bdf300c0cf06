/** The tables of events, webhooks and stored responses. Times are in milliseconds since 1970. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { DELIVERY_STATES, ENDPOINT_DISABLED_REASONS, ENDPOINT_STATES } from "../domain/states";
import type { EventType } from "../domain/webhooks";
import { users, workspaces } from "./schema-accounts";
import { belongsTo, id, time } from "./schema-columns";

/** The outbox: events, written in the transaction of the change that they report. */
export const events = sqliteTable(
  "events",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    type: text().notNull(),
    entity_id: text().notNull(),
    data: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    created_at: time().notNull(),
  },
  // A terminal state is reached once, so it has one event.
  (t) => [uniqueIndex("events_once").on(t.entity_id, t.type), index("events_by_workspace").on(t.workspace_id, t.id)],
);

export const webhookEndpoints = sqliteTable(
  "webhook_endpoints",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    url: text().notNull(),
    event_types: text({ mode: "json" }).$type<EventType[]>().notNull(),
    state: text({ enum: ENDPOINT_STATES }).notNull(),
    /** Shown once, but stored because it signs every delivery. */
    secret: text().notNull(),
    old_secret: text(),
    old_secret_until: time(),
    last_success_at: time(),
    /** The first failure since the last success. */
    failing_since: time(),
    disabled_at: time(),
    /** Null while enabled, and if an earlier version disabled it. */
    disabled_reason: text({ enum: ENDPOINT_DISABLED_REASONS }),
    created_at: time().notNull(),
  },
  (t) => [index("webhook_endpoints_by_workspace").on(t.workspace_id, t.id)],
);

/** Deliveries of events to endpoints. The ID is the `webhook-id`. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    id: id(),
    endpoint_id: belongsTo(() => webhookEndpoints.id),
    workspace_id: text().notNull(),
    event_id: text().notNull(),
    type: text().notNull(),
    /** The payload that is sent, with the same bytes on each attempt. */
    body: text().notNull(),
    state: text({ enum: DELIVERY_STATES }).notNull(),
    attempts: integer().notNull().default(0),
    /** When the next attempt is due, or null. */
    due_at: time(),
    last_attempt_at: time(),
    last_status: integer(),
    last_error: text(),
    last_milliseconds: integer(),
    created_at: time().notNull(),
  },
  (t) => [
    index("deliveries_due").on(t.state, t.due_at),
    index("deliveries_by_endpoint").on(t.endpoint_id, t.created_at, t.id),
    index("deliveries_by_state").on(t.endpoint_id, t.state, t.created_at, t.id),
    uniqueIndex("deliveries_once").on(t.endpoint_id, t.event_id),
    // Pending deliveries: the queue is read by workspace and then by endpoint, regardless of its length.
    index("deliveries_waiting_by_workspace").on(t.workspace_id, t.due_at).where(sql`state = 'pending'`),
    index("deliveries_waiting_by_endpoint").on(t.endpoint_id, t.due_at).where(sql`state = 'pending'`),
    index("deliveries_waiting_tests")
      .on(t.workspace_id, t.due_at)
      .where(sql`state = 'pending' and type = 'webhook.test'`),
  ],
);

export const idempotency = sqliteTable(
  "idempotency",
  {
    user_id: belongsTo(() => users.id),
    key: text().notNull(),
    /** Method, path and body of the request that used the key. */
    request_hash: text().notNull(),
    status: integer().notNull(),
    body: text().notNull(),
    headers: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
    created_at: time().notNull(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.key] }), index("idempotency_by_age").on(t.created_at)],
);
