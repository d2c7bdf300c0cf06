/** The newest notifications, in the popover of the bell. It is loaded when it is first opened. */
import { useLocation } from "preact-iso";
import { describeNotification } from "../app/notification-texts";
import { markAllRead, markRead, type Notification, newestNotifications, unreadCount } from "../app/notifications";
import { chooseWorkspace, findWorkspaceName, workspaces } from "../app/session";
import { showFailure } from "../app/toasts";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { RelativeTime } from "../ui/time";

export default function NewestNotifications({ onClose }: { onClose(): void }) {
  const items = newestNotifications.value;
  const markAll = () => void markAllRead().catch(showFailure);
  return (
    <section ref={setTop} class="menu-items popover-list" aria-label="Newest notifications">
      <div class="popover-head">
        <h2>Notifications</h2>
        {unreadCount.value > 0 && (
          <Button look="quiet" onClick={markAll}>
            Mark all as read
          </Button>
        )}
      </div>
      {items === null && <p class="soft">Loading notifications…</p>}
      {items?.length === 0 && <p class="soft">You have no notifications.</p>}
      {items !== null && items.length > 0 && (
        <ul class="plain-list">
          {items.map((notification) => (
            <li key={notification.id}>
              <NotificationItem notification={notification} onOpen={onClose} />
            </li>
          ))}
        </ul>
      )}
      <a class="button" href="/notifications" onClick={onClose}>
        All notifications
      </a>
    </section>
  );
}

const setTop = (popover: HTMLElement | null): void =>
  popover?.style.setProperty("--top", `${popover.getBoundingClientRect().top}px`);

type NotificationItemProps = { notification: Notification; onOpen?(): void };

/** A notification with a link to its subject. */
export function NotificationItem({ notification, onOpen }: NotificationItemProps) {
  const open = useOpenNotification();
  const { title, detail, icon } = describeNotification(notification);
  const target = findTarget(notification);
  const isUnread = notification.read_at === null;
  const name = workspaces.value.length < 2 ? null : findWorkspaceName(notification.workspace_id);
  return (
    <div class={`notification ${isUnread ? "unread" : ""} ${icon === "warning" ? "problem" : ""}`}>
      <Icon name={icon} />
      <div class="notification-text">
        <p class="notification-title" title={title} dir="auto">
          {isUnread && <span class="visually-hidden">Unread: </span>}
          {target === null ? (
            title
          ) : (
            <a
              href={target}
              onClick={(event) => {
                onOpen?.();
                open(event, notification);
              }}
            >
              {title}
            </a>
          )}
        </p>
        <p class="soft">{detail}</p>
        <p class="soft">
          <RelativeTime iso={notification.created_at} />
          {name !== null && (
            <>
              {" in "}
              <bdi>{name}</bdi>
            </>
          )}
        </p>
      </div>
    </div>
  );
}

/** Returns the address to which a notification links; null if it is in a workspace that the user has left. */
function findTarget(notification: Notification): string | null {
  const { workspace_id: id } = notification;
  const isReachable = id === null || workspaces.value.some((one) => one.id === id);
  return isReachable ? describeNotification(notification).href : null;
}

/** Returns the click handler of a notification's link. It marks the notification as read and enters its workspace. */
function useOpenNotification(): (event: MouseEvent, notification: Notification) => void {
  const { route } = useLocation();
  return (event, notification) => {
    if (notification.read_at === null) void markRead(notification.id).catch(() => {});
    const target = findTarget(notification);
    // A new tab keeps the workspace of this tab.
    if (event.ctrlKey || event.metaKey || event.shiftKey || target === null) return;
    event.preventDefault();
    if (notification.workspace_id !== null) chooseWorkspace(notification.workspace_id);
    route(target);
  };
}
