/** All notifications of the user, in all workspaces. */
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { markAllRead, markRead, type Notification, unreadCount } from "../../app/notifications";
import { showFailure } from "../../app/toasts";
import { NotificationItem } from "../../shell/newest-notifications";
import { Button, IconButton } from "../../ui/button";
import { Segments } from "../../ui/filter-bar";
import { Page } from "../../ui/page";
import { LoadMore, RowList } from "../../ui/row-list";
import { Empty, ListSkeleton } from "../../ui/states";

const FILTERS = [
  { value: "all", label: "All" },
  { value: "unread", label: "Unread" },
] as const;

export default function NotificationsPage() {
  const { query: shown, route } = useLocation();
  const isUnreadOnly = shown.unread === "true";
  const list = useOffsetList<Notification>(["notifications", isUnreadOnly], (page, signal) => {
    const query = { ...page, ...(isUnreadOnly && { unread: "true" as const }) };
    return must(api.GET("/api/v1/notifications", { params: { query }, signal }));
  });
  const items = list.items.value;
  return (
    <Page
      title="Notifications"
      actions={
        unreadCount.value > 0 && (
          <Button icon="check" onClick={() => void markAllRead().catch(showFailure)}>
            Mark all as read
          </Button>
        )
      }
    >
      <div class="toolbar">
        <Segments
          label="Shown"
          value={isUnreadOnly ? "unread" : "all"}
          options={FILTERS}
          onChange={(value) => route(value === "unread" ? "/notifications?unread=true" : "/notifications", true)}
        />
        {/* Without notifications, the page offers them below. */}
        {(isUnreadOnly || items?.length !== 0) && <SettingsLink class="button quiet" />}
      </div>
      {items === null && list.error.value === null && <ListSkeleton />}
      {items !== null && items.length > 0 && <RowList items={items} row={drawNotification} />}
      {items?.length === 0 && <NoNotifications isUnreadOnly={isUnreadOnly} />}
      <LoadMore list={list} />
    </Page>
  );
}

const SettingsLink = (props: { class: string }) => (
  <a {...props} href="/account/notifications">
    Notification settings
  </a>
);

const NotificationRow = ({ notification }: { notification: Notification }) => (
  <li class="row notification-row">
    <NotificationItem notification={notification} />
    {notification.read_at === null && (
      <IconButton icon="check" label="Mark as read" onClick={() => void markRead(notification.id).catch(showFailure)} />
    )}
  </li>
);

const drawNotification = (notification: Notification) => (
  <NotificationRow key={notification.id} notification={notification} />
);

const NoNotifications = ({ isUnreadOnly }: { isUnreadOnly: boolean }) =>
  isUnreadOnly ? (
    <Empty
      title="No unread notifications"
      icon="bell"
      link={{ href: "/notifications", label: "Show all notifications" }}
    />
  ) : (
    <Empty title="No notifications" icon="bell">
      <p>Offcut notifies you here when work that you started completes, fails or needs your attention.</p>
      <SettingsLink class="button" />
    </Empty>
  );
