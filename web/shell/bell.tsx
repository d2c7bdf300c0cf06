import { formatCount } from "../app/format";
import { markAllRead, newestNotifications, unreadCount } from "../app/notifications";
import { showFailure } from "../app/toasts";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { usePopover } from "../ui/use-popover";
import { NotificationItem } from "./notification-item";

const MAX_SHOWN_COUNT = 99;

/** The notification bell: the number of unread notifications, and a popover with the newest. */
export function Bell() {
  const { isOpen, setIsOpen, root, button } = usePopover();
  const count = unreadCount.value;
  const label = count === 0 ? "Notifications" : `Notifications, ${count} unread`;
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class="button quiet icon-only bell"
        aria-expanded={isOpen}
        aria-label={label}
        title={label}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="bell" />
        {count > 0 && (
          <span class="bell-count number" aria-hidden="true">
            {count > MAX_SHOWN_COUNT ? `${MAX_SHOWN_COUNT}+` : count}
          </span>
        )}
      </button>
      <span class="visually-hidden" role="status">
        {count > 0 && `${formatCount(count, "unread notification")}`}
      </span>
      {isOpen && <Newest onClose={() => setIsOpen(false)} />}
    </div>
  );
}

function Newest({ onClose }: { onClose(): void }) {
  const items = newestNotifications.value;
  const markAll = () => void markAllRead().catch(showFailure);
  return (
    <section class="menu-items popover-list" aria-label="Newest notifications">
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
