/** Notifications that are waiting to be mailed. All waiting notifications of a user and type become one mail. */
import { and, desc, eq, sql } from "drizzle-orm";
import type { NotificationType } from "../domain/notifications";
import { NOTIFICATION_TYPES } from "../domain/states";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { mails, workspaceMembers } from "./schema-accounts";
import { notifications } from "./schema-notifications";

const notificationRows = rowsOf(notifications);

/** `last_at` is when the last mail of this type was queued, or 0. */
export type WaitingMail = { user_id: string; type: NotificationType; last_at: number };

const TYPES = JSON.stringify(NOTIFICATION_TYPES);

/**
 * Lists the users and types with waiting notifications, starting with the one whose last mail is oldest. The cost
 * depends on the number of users with waiting notifications, not on the number of notifications: SQLite has no loose
 * index scan, so the query jumps from user to user.
 */
export const listWaitingMails = (db: Queries, now: number, limit: number): Promise<WaitingMail[]> =>
  db.all<WaitingMail>(sql`
    WITH RECURSIVE waiting(user_id) AS (
      SELECT min(user_id) FROM notifications INDEXED BY notifications_to_mail WHERE mail_state = 'waiting'
      UNION ALL
      SELECT (
        SELECT min(n.user_id) FROM notifications n INDEXED BY notifications_to_mail
        WHERE n.mail_state = 'waiting' AND n.user_id > waiting.user_id
      ) FROM waiting WHERE waiting.user_id IS NOT NULL
    )
    SELECT waiting.user_id, one.value AS type, coalesce((
      SELECT max(m.mailed_at) FROM notifications m INDEXED BY notifications_mailed
      WHERE m.user_id = waiting.user_id AND m.type = one.value AND m.mailed_at IS NOT NULL AND m.mailed_at <= ${now}
    ), 0) AS last_at
    FROM waiting CROSS JOIN json_each(${TYPES}) AS one
    WHERE waiting.user_id IS NOT NULL AND EXISTS (
      SELECT 1 FROM notifications n INDEXED BY notifications_to_mail
      WHERE n.mail_state = 'waiting' AND n.user_id = waiting.user_id AND n.type = one.value
    )
    ORDER BY last_at, waiting.user_id LIMIT ${limit}`);

/** The notifications that one mail reports. */
export type MailGroup = { userId: string; type: NotificationType };

const isWaitingIn = ({ userId, type }: MailGroup) =>
  and(eq(notifications.user_id, userId), eq(notifications.type, type), sql`${notifications.mail_state} = 'waiting'`);

/** Returns whether a mail of this type is still unsent, and when the last one was sent, or 0. */
export async function readMailPace(
  db: Queries,
  { userId, type }: MailGroup,
): Promise<{ isPending: boolean; sentAt: number }> {
  const [row] = await db
    .select({
      pending: sql<number>`coalesce(max(${mails.state} = 'pending'), 0)`,
      sentAt: sql<number>`coalesce(max(${mails.sent_at}), 0)`,
    })
    .from(mails)
    .where(and(eq(mails.user_id, userId), eq(mails.template, type)));
  return { isPending: row?.pending === 1, sentAt: row?.sentAt ?? 0 };
}

/** Lists the newest waiting notifications of a group, and counts all of them. */
export const listWaitingNotifications = (db: Queries, group: MailGroup, limit: number) =>
  notificationRows.listPage(db, isWaitingIn(group), { limit, offset: 0 }, desc(notifications.id));

/** Records that one mail reports all waiting notifications of the group. `newestId` is one of them. */
export async function recordQueuedMail(tx: Queries, group: MailGroup, newestId: string, now: number): Promise<void> {
  await tx.update(notifications).set({ mail_state: "queued" }).where(isWaitingIn(group));
  await tx.update(notifications).set({ mailed_at: now }).where(eq(notifications.id, newestId));
}

export async function discardWaitingMails(tx: Queries, group: MailGroup): Promise<void> {
  await tx.update(notifications).set({ mail_state: "none" }).where(isWaitingIn(group));
}

/** Does the same for notifications in workspaces that the user has left. */
export async function discardMailsOfLeftWorkspaces(tx: Queries, group: MailGroup): Promise<void> {
  const isMember = sql`EXISTS (SELECT 1 FROM ${workspaceMembers} w WHERE w.workspace_id = ${notifications.workspace_id} AND w.user_id = ${group.userId})`;
  await notificationRows.updateAll(
    tx,
    { mail_state: "none" },
    and(isWaitingIn(group), sql`${notifications.workspace_id} IS NOT NULL`, sql`NOT ${isMember}`),
  );
}
