import { describeNotification } from "../app/notification-texts";
import type { Notification } from "../app/notifications";
import { findWorkspaceName, workspaces } from "../app/session";
import { findTarget, useOpenNotification } from "../app/use-open-notification";
import { Icon } from "../ui/icon";
import { RelativeTime } from "../ui/relative-time";

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
