/** The user's notifications: the number of unread ones, and the newest. */
import { effect, signal, untracked } from "@preact/signals";
import { api, must, type Schemas } from "./api";
import { listenLive } from "./live";
import { createScheduledRead } from "./scheduled-read";
import { session } from "./session";

export type Notification = Schemas["Notification"];

export const unreadCount = signal(0);
/** Newest first; null until they are loaded. */
export const newestNotifications = signal<Notification[] | null>(null);
/** Counts changes, so that pages reload. */
export const notificationChanges = signal(0);

const MAX_NEWEST = 6;
const DELAY_MS = 250;
const CHANNEL = "offcut.notifications";

let refresh = (): void => {};
let announce = (): void => {};

/** Keeps the count and the newest notifications current while the user is signed in. Call it once. */
export const watchNotifications = (): (() => void) =>
  effect(() => {
    const userId = session.value.kind === "signed-in" ? session.value.me.id : null;
    untracked(() => {
      unreadCount.value = 0;
      newestNotifications.value = null;
    });
    return userId === null ? undefined : untracked(() => follow(userId));
  });

function follow(userId: string): () => void {
  // A notification that is read in one tab is read in all of them.
  const channel = new BroadcastChannel(`${CHANNEL}.${userId}`);
  const { schedule, stop } = createScheduledRead(read, DELAY_MS);
  channel.onmessage = schedule;
  refresh = schedule;
  announce = () => channel.postMessage(null);
  // It may have been read on another device meanwhile.
  const onVisible = () => {
    if (!document.hidden) schedule();
  };
  document.addEventListener("visibilitychange", onVisible);
  const stopLive = listenLive(["notification.created"], schedule);
  schedule();
  return () => {
    document.removeEventListener("visibilitychange", onVisible);
    stopLive();
    stop();
    channel.close();
    refresh = announce = () => {};
  };
}

async function read(signal: AbortSignal): Promise<void> {
  const params = { query: { limit: MAX_NEWEST } };
  const found = await api.GET("/api/v1/notifications", { params, signal }).catch(() => null);
  if (signal.aborted || !found?.data) return;
  unreadCount.value = found.data.unread_count;
  newestNotifications.value = found.data.items;
  notificationChanges.value++;
}

/** Marks a notification as read. Throws `ApiError`. */
export async function markRead(id: string): Promise<void> {
  await must(api.POST("/api/v1/notifications/{notification_id}/read", { params: { path: { notification_id: id } } }));
  refresh();
  announce();
}

/** Marks all notifications as read. Throws `ApiError`. */
export async function markAllRead(): Promise<void> {
  await must(api.POST("/api/v1/notifications/read"));
  refresh();
  announce();
}
