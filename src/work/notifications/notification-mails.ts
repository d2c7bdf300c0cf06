/**
 * Combines notifications into mails: a user gets at most one mail per type in 10 minutes, and the next one covers
 * everything since. The transaction that queues the mail also marks its notifications, so that each is mailed once,
 * even after a crash.
 */
import { createPoller, type Poller } from "../../lib/poller";
import {
  discardMailsOfLeftWorkspaces,
  discardWaitingMails,
  listWaitingMails,
  listWaitingNotifications,
  type MailGroup,
  readMailPace,
  recordQueuedMail,
} from "../../store/notification-mails";
import { findUserById } from "../../store/users";
import { canMail, type MailNeeds } from "../mail/mails";
import { MAX_LISTED_NOTIFICATIONS } from "../mail/templates/notifications";
import { canReceive } from "./notifications";

const MIN_INTERVAL_MS = 10 * 60_000;
/** A large number, so that delayed groups leave room for others. */
const MAX_GROUPS_PER_POLL = 1_000;
/** An unsent mail delays the next one of its type. */
const RETRY_MS = 30_000;
const MAX_HELD_BACK = 10_000;

/** Creates the poller. Wake it after each commit. */
export function createNotificationMailer({ store, mails, log, now, publicUrl }: MailNeeds): Poller {
  /** When delayed groups are due, so that not every commit queries them; includes failed ones. */
  const heldBack = new Map<string, number>();

  const toKey = ({ userId, type }: MailGroup): string => `${userId}/${type}`;

  function holdBack(group: MailGroup, until: number): number {
    if (heldBack.size >= MAX_HELD_BACK) heldBack.clear();
    heldBack.set(toKey(group), until);
    return until;
  }

  /** Returns when the group may be mailed: now, or later because its last mail was sent late or not yet. */
  async function findMailTime(group: MailGroup, at: number): Promise<number> {
    const known = heldBack.get(toKey(group));
    // A later time comes from a clock that was set back.
    if (known !== undefined && known > at && known <= at + MIN_INTERVAL_MS) return known;
    heldBack.delete(toKey(group));
    const { isPending, sentAt } = await readMailPace(store.read, group);
    if (isPending) return holdBack(group, at + RETRY_MS);
    const time = sentAt > at ? at : sentAt + MIN_INTERVAL_MS;
    return time > at ? holdBack(group, time) : at;
  }

  /** Queues one mail for all notifications of the group that wait, or discards them if the user cannot get it. */
  const combine = (group: MailGroup, at: number): Promise<void> =>
    store.write(async (tx) => {
      const user = await findUserById(tx, group.userId);
      if (user === null || !canMail({ mails }, user) || !canReceive(user, group)) return discardWaitingMails(tx, group);
      await discardMailsOfLeftWorkspaces(tx, group);
      const { rows: newest, total } = await listWaitingNotifications(tx, group, MAX_LISTED_NOTIFICATIONS);
      if (total === 0) return;
      const values = { url: publicUrl(), items: newest.map(({ payload }) => payload as never), total };
      await mails.queue(tx, { to: user.email, userId: user.id, template: group.type, values }, at);
      await recordQueuedMail(tx, group, newest[0]!.id, at);
    });

  /** Returns when to check the group again. A failing group must not stop the others. */
  async function tryCombining(group: MailGroup, at: number): Promise<number> {
    try {
      await combine(group, at);
      return Number.POSITIVE_INFINITY;
    } catch (error) {
      log.error("notification.mail_failed", { type: group.type, error });
      return holdBack(group, at + RETRY_MS);
    }
  }

  async function poll(): Promise<number | null> {
    const at = now();
    const waiting = await listWaitingMails(store.read, at, MAX_GROUPS_PER_POLL);
    let nextAt = Number.POSITIVE_INFINITY;
    for (const { user_id: userId, type, last_at: lastAt } of waiting) {
      if (poller.isStopped) return null;
      const group = { userId, type };
      const dueAt = lastAt === 0 ? at : lastAt + MIN_INTERVAL_MS;
      const mailAt = dueAt > at ? dueAt : await findMailTime(group, at);
      nextAt = Math.min(nextAt, mailAt > at ? mailAt : await tryCombining(group, at));
    }
    return Number.isFinite(nextAt) ? nextAt - at : null;
  }

  const poller = createPoller(poll, (error) => log.error("notification.mail_failed", { error }));
  return poller;
}
