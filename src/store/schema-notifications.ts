/** The tables of notifications, data exports and live events. Times are in milliseconds since 1970. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { STORED_EVENT_TYPES } from "../domain/live-events";
import {
  DATA_EXPORT_STATES,
  NOTIFICATION_CHANNELS,
  NOTIFICATION_MAIL_STATES,
  NOTIFICATION_TYPES,
} from "../domain/states";
import { users } from "./schema-accounts";
import { belongsTo, flag, id, time } from "./schema-columns";

export const notifications = sqliteTable(
  "notifications",
  {
    id: id(),
    user_id: belongsTo(() => users.id),
    /** The workspace that the notification is about, if any. */
    workspace_id: text(),
    type: text({ enum: NOTIFICATION_TYPES }).notNull(),
    payload: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    /** The reported cause. The same cause is reported to a user only once. */
    cause: text().notNull(),
    /** Not shown in the list, because the user receives this type only by mail. */
    is_hidden: flag(),
    mail_state: text({ enum: NOTIFICATION_MAIL_STATES }).notNull(),
    mailed_at: time(),
    read_at: time(),
    created_at: time().notNull(),
  },
  (t) => [
    index("notifications_by_user").on(t.user_id, t.id),
    uniqueIndex("notifications_once").on(t.user_id, t.type, t.cause),
    index("notifications_unread").on(t.user_id, t.id).where(sql`read_at is null`),
    index("notifications_to_mail").on(t.user_id, t.type, t.created_at).where(sql`mail_state = 'waiting'`),
    index("notifications_mailed").on(t.user_id, t.type, t.mailed_at).where(sql`mailed_at is not null`),
  ],
);

/** The choices that differ from the defaults. */
export const notificationPreferences = sqliteTable(
  "notification_preferences",
  {
    user_id: belongsTo(() => users.id),
    type: text({ enum: NOTIFICATION_TYPES }).notNull(),
    channel: text({ enum: NOTIFICATION_CHANNELS }).notNull(),
    enabled: integer({ mode: "boolean" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.type, t.channel] })],
);

export const dataExports = sqliteTable(
  "data_exports",
  {
    id: id(),
    user_id: belongsTo(() => users.id),
    notification_id: belongsTo(() => notifications.id),
    state: text({ enum: DATA_EXPORT_STATES }).notNull(),
    has_media: flag(),
    size_bytes: integer(),
    error_message: text(),
    failures: integer().notNull().default(0),
    requested_at: time().notNull(),
    /** When the export became ready or failed. */
    finished_at: time(),
    expires_at: time(),
  },
  (t) => [
    uniqueIndex("data_exports_one_pending").on(t.user_id).where(sql`state = 'pending'`),
    index("data_exports_by_user").on(t.user_id, t.id),
    index("data_exports_by_notification").on(t.notification_id),
    index("data_exports_by_state").on(t.state, t.expires_at),
  ],
);

/**
 * State changes for event streams, kept for 7 days. Triggers write the rows (`0008_live_events.sql`). The ID is the
 * event's ID and grows with each row, even after rows were deleted.
 */
export const liveEvents = sqliteTable(
  "live_events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** The workspace whose members receive it; null for an event of one user. */
    workspace_id: text(),
    user_id: text(),
    type: text({ enum: STORED_EVENT_TYPES }).notNull(),
    entity_id: text().notNull(),
    state: text(),
    /** Revision of a draft or a review. */
    revision: integer(),
    pipeline_id: text(),
    created_at: time().notNull(),
  },
  (t) => [
    index("live_events_by_workspace").on(t.workspace_id, t.id).where(sql`workspace_id is not null`),
    index("live_events_by_user").on(t.user_id, t.id).where(sql`user_id is not null`),
    index("live_events_by_pipeline").on(t.pipeline_id, t.id).where(sql`pipeline_id is not null`),
    index("live_events_by_age").on(t.created_at),
  ],
);
