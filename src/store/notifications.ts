/** Notifications and preferences of users. */
import { and, desc, eq, inArray, isNotNull, isNull, lt, or, sql } from "drizzle-orm";
import type { NotificationChoice, NotificationType } from "../domain/notifications";
import type { Queries } from "./db";
import { first, type OffsetPage, rowsOf } from "./rows";
import { users } from "./schema-accounts";
import { dataExports, notificationPreferences, notifications } from "./schema-notifications";

const notificationRows = rowsOf(notifications);

export type StoredNotification = typeof notifications.$inferSelect;

/** Inserts a notification. Returns null if the user already has one with the same type and cause. */
export const insertNotification = (tx: Queries, notification: typeof notifications.$inferInsert) =>
  first(tx.insert(notifications).values(notification).onConflictDoNothing().returning());

export const findNotification = (db: Queries, userId: string, id: string) =>
  notificationRows.find(db, { id, user_id: userId });

export const updateNotification = notificationRows.updateById;

/**
 * The notifications of a user that a credential can see. `workspaceId` limits them to a workspace, null does not;
 * `hasExports` includes those about data exports.
 */
export type NotificationReader = { userId: string; workspaceId: string | null; hasExports: boolean };

const isShownTo = (reader: NotificationReader, { isUnread }: { isUnread: boolean }) =>
  and(
    eq(notifications.user_id, reader.userId),
    eq(notifications.is_hidden, false),
    isUnread ? isNull(notifications.read_at) : undefined,
    reader.workspaceId === null
      ? undefined
      : or(
          eq(notifications.workspace_id, reader.workspaceId),
          reader.hasExports ? eq(notifications.type, "data_export_ready") : undefined,
        ),
  );

/** Lists the notifications that the reader can see, newest first. */
export const listNotifications = (db: Queries, reader: NotificationReader, page: OffsetPage & { isUnread: boolean }) =>
  notificationRows.listPage(db, isShownTo(reader, page), page, desc(notifications.id));

export const countNotifications = (db: Queries, reader: NotificationReader, filter: { isUnread: boolean }) =>
  notificationRows.count(db, isShownTo(reader, filter));

/** Marks all unread notifications of the user as read, including hidden ones. */
export const markAllRead = (tx: Queries, userId: string, now: number) =>
  notificationRows.updateAll(tx, { read_at: now }, { user_id: userId, read_at: null });

export async function markCauseRead(
  tx: Queries,
  userId: string,
  { type, cause }: { type: NotificationType; cause: string },
  now: number,
): Promise<void> {
  const isAbout = and(eq(notifications.user_id, userId), eq(notifications.type, type), eq(notifications.cause, cause));
  await notificationRows.updateAll(tx, { read_at: now }, and(isAbout, isNull(notifications.read_at)));
}

/** Returns whether the account with an address, if any, accepts mails of a type. */
export async function wantsMail(db: Queries, email: string, type: NotificationType): Promise<boolean> {
  const { user_id, channel, enabled } = notificationPreferences;
  const rows = await db
    .select({ enabled })
    .from(notificationPreferences)
    .innerJoin(users, eq(users.id, user_id))
    .where(
      and(eq(users.email, email), eq(notificationPreferences.type, type), eq(channel, "email"), eq(enabled, false)),
    );
  return rows.length === 0;
}

/** The row of an export that is pending or can be downloaded belongs to its notification, which is kept. */
const isDeletable = sql`NOT EXISTS (SELECT 1 FROM ${dataExports} e WHERE e.notification_id = ${notifications.id} AND e.state IN ('pending', 'ready'))`;

/** Deletes at most `limit` old notifications that were read or never shown. Returns the number. */
export async function deleteReadNotificationsBefore(tx: Queries, time: number, limit: number): Promise<number> {
  const old = tx
    .select({ id: notifications.id })
    .from(notifications)
    .where(
      and(
        lt(notifications.created_at, time),
        or(isNotNull(notifications.read_at), eq(notifications.is_hidden, true)),
        isDeletable,
      ),
    )
    .limit(limit);
  return (await tx.delete(notifications).where(inArray(notifications.id, old))).rowsAffected;
}

/** Returns the notification about the user's latest export request, or null. */
export const findLatestExport = (db: Queries, userId: string) =>
  notificationRows.find(db, { user_id: userId, type: "data_export_ready" }, desc(notifications.id));

/** Deletes the oldest notifications of a user beyond the newest `kept`. */
export async function deleteOldestNotifications(tx: Queries, userId: string, kept: number): Promise<void> {
  const oldest = sql`(SELECT id FROM ${notifications} WHERE user_id = ${userId} ORDER BY id DESC LIMIT 1 OFFSET ${kept})`;
  await tx
    .delete(notifications)
    .where(and(eq(notifications.user_id, userId), sql`${notifications.id} <= ${oldest}`, isDeletable));
}

export const listChoices = (db: Queries, userId: string, type?: NotificationType): Promise<NotificationChoice[]> =>
  db
    .select({
      type: notificationPreferences.type,
      channel: notificationPreferences.channel,
      enabled: notificationPreferences.enabled,
    })
    .from(notificationPreferences)
    .where(
      and(
        eq(notificationPreferences.user_id, userId),
        type === undefined ? undefined : eq(notificationPreferences.type, type),
      ),
    );

const putPreference = rowsOf(notificationPreferences).putBy(
  notificationPreferences.user_id,
  notificationPreferences.type,
  notificationPreferences.channel,
);

export const saveChoice = (tx: Queries, userId: string, { type, channel, enabled }: NotificationChoice) =>
  putPreference(tx, { user_id: userId, type, channel, enabled });
