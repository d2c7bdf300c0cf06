/** The user's notifications: the number of unread ones, and the newest. */
import { effect, signal, untracked } from "@preact/signals";
import { api, must, type Schemas } from "./api";
import { followRead } from "./cache";
import { invalidate } from "./query-client";
import { me } from "./session";

export type Notification = Schemas["Notification"];

export const unreadCount = signal(0);
/** Newest first; null until they are loaded. */
export const newestNotifications = signal<Notification[] | null>(null);
const MAX_NEWEST = 6;
const CHANNEL = "offcut.notifications";

let announce = (): void => {};

/** Keeps the count and the newest notifications current while the user is signed in. Call it once. */
export const watchNotifications = (): (() => void) =>
  effect(() => {
    const userId = me.value?.id ?? null;
    untracked(() => {
      unreadCount.value = 0;
      newestNotifications.value = null;
    });
    return userId === null ? undefined : untracked(() => follow(userId));
  });

function follow(userId: string): () => void {
  // A notification that is read in one tab is read in all of them.
  const channel = new BroadcastChannel(`${CHANNEL}.${userId}`);
  const refresh = () => invalidate(["notifications"]);
  channel.onmessage = refresh;
  announce = () => {
    refresh();
    channel.postMessage(null);
  };
  // It may have been read on another device in the meantime.
  const onVisible = () => {
    if (!document.hidden) refresh();
  };
  document.addEventListener("visibilitychange", onVisible);
  const params = { query: { limit: MAX_NEWEST } };
  const stop = followRead(
    ["notifications", "newest"],
    (signal) => must(api.GET("/api/v1/notifications", { params, signal })),
    (found) => {
      unreadCount.value = found.unread_count;
      newestNotifications.value = found.items;
    },
  );
  return () => {
    document.removeEventListener("visibilitychange", onVisible);
    stop();
    channel.close();
    announce = () => {};
  };
}

/** Marks a notification as read. Throws `ApiError`. */
export async function markRead(id: string): Promise<void> {
  await must(api.POST("/api/v1/notifications/{notification_id}/read", { params: { path: { notification_id: id } } }));
  announce();
}

/** Marks all notifications as read. Throws `ApiError`. */
export async function markAllRead(): Promise<void> {
  await must(api.POST("/api/v1/notifications/read"));
  announce();
}
