import { ErrorBoundary, lazy } from "preact-iso";
import { formatCount } from "../app/format";
import { unreadCount } from "../app/notifications";
import { Icon } from "../ui/icon";
import { usePopover } from "../ui/menu";

const NewestNotifications = lazy(() => import("./newest-notifications"));

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
      {isOpen && (
        <ErrorBoundary>
          <NewestNotifications onClose={() => setIsOpen(false)} />
        </ErrorBoundary>
      )}
    </div>
  );
}
