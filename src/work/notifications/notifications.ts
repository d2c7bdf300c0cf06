/**
 * Notifies users. A notification is written in the transaction of its cause. `waiting` in `mail_state` only says that a
 * mail is wanted: `notification-mails.ts` combines and queues the mails.
 */
import { conflict } from "../../domain/errors";
import {
  goesTo,
  isMandatory,
  type NotificationChoice,
  type NotificationPayloads,
  type NotificationType,
  type TimedNotification,
  type TypedNotification,
} from "../../domain/notifications";
import type { Queries } from "../../store/db";
import { discardWaitingMails } from "../../store/notification-mails";
import {
  deleteOldestNotifications,
  insertNotification,
  listChoices,
  type StoredNotification,
  saveChoice,
  updateNotification,
} from "../../store/notifications";
import { findUserById, listAdminIds, type User } from "../../store/users";
import { listOwnerIds } from "../../store/workspace-members";
import { findRole } from "../../store/workspaces";

/** Repeated failures must not fill the database. */
const MAX_NOTIFICATIONS_PER_USER = 1_000;

/**
 * `userId` null: the account that started the work no longer exists. `workspaceId`: contains the subject of the
 * notification. `cause`: reported once per user and type.
 */
type NotificationRequest = TimedNotification & {
  userId: string | null;
  workspaceId: string | null;
  cause: string;
  now: number;
};

/**
 * Notifies a user, unless the user has turned it off. Returns null if nothing is stored: also for a cause that was
 * reported before, for an account that is disabled or being deleted (except for its data export), and for a former
 * member of the workspace.
 */
export async function notify(tx: Queries, request: NotificationRequest): Promise<StoredNotification | null> {
  const { userId, workspaceId, type, payload, cause, now } = request;
  const user = userId === null ? null : await findUserById(tx, userId);
  if (user === null || !canReceive(user, request)) return null;
  if (workspaceId !== null && (await findRole(tx, workspaceId, user.id)) === null) return null;
  const choices = await listChoices(tx, user.id, type);
  const [isShown, isMailed] = [goesTo(request, "in_app", choices), goesTo(request, "email", choices)];
  if (!isShown && !isMailed) return null;
  const inserted = await insertNotification(tx, {
    user_id: user.id,
    workspace_id: workspaceId,
    type,
    payload,
    cause,
    is_hidden: !isShown,
    mail_state: isMailed ? "waiting" : "none",
    created_at: now,
  });
  if (inserted) await deleteOldestNotifications(tx, user.id, MAX_NOTIFICATIONS_PER_USER);
  return inserted;
}

export async function notifyOwners(
  tx: Queries,
  workspaceId: string,
  notification: TypedNotification & { cause: string; now: number },
): Promise<void> {
  for (const userId of await listOwnerIds(tx, workspaceId)) await notify(tx, { ...notification, userId, workspaceId });
}

export async function notifyAdmins(
  tx: Queries,
  notification: TypedNotification & { cause: string; now: number },
): Promise<void> {
  for (const userId of await listAdminIds(tx)) await notify(tx, { ...notification, userId, workspaceId: null });
}

/** An account in its grace period can still export its data. */
export const canReceive = (user: User, { type }: { type: NotificationType }): boolean =>
  user.disabled_at === null && (user.deleted_at === null || type === "data_export_ready");

/**
 * Changes the payload of an export's notification. The end of the export makes it unread again, and is reported by
 * mail.
 */
export async function updateExportNotification(
  tx: Queries,
  notification: Pick<StoredNotification, "id" | "user_id">,
  payload: NotificationPayloads["data_export_ready"],
): Promise<StoredNotification | null> {
  const { id, user_id: userId } = notification;
  if (payload.status !== "ready" && payload.status !== "failed") return updateNotification(tx, id, { payload });
  const choices = await listChoices(tx, userId, "data_export_ready");
  const isMailed = goesTo({ type: "data_export_ready", payload }, "email", choices);
  return updateNotification(tx, id, { payload, read_at: null, mail_state: isMailed ? "waiting" : "none" });
}

/**
 * Stores the user's preferences, all or nothing. Waiting mails that are no longer wanted are not sent. Throws
 * `AppError` `conflict` for a mandatory channel that would be turned off.
 */
export async function changePreferences(tx: Queries, userId: string, choices: NotificationChoice[]): Promise<void> {
  for (const choice of choices) {
    const { type, channel, enabled } = choice;
    if (!enabled && isMandatory(choice))
      throw conflict(`Notifications of type ${type} through ${channel} are mandatory.`);
    await saveChoice(tx, userId, choice);
    if (channel === "email" && !enabled) await discardWaitingMails(tx, { userId, type });
  }
}
