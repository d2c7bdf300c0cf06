/** All notifications of the user, in all workspaces. */
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { markAllRead, markRead, type Notification, notificationChanges, unreadCount } from "../../app/notifications";
import { toOffsetQuery, toPage } from "../../app/offset-page";
import { usePagedList } from "../../app/pages-of";
import { showFailure } from "../../app/toasts";
import { NotificationItem } from "../../shell/notification-item";
import { Button, IconButton } from "../../ui/button";
import { LoadMore } from "../../ui/load-more";
import { Page } from "../../ui/page";
import { RowList } from "../../ui/row-list";
import { Segments } from "../../ui/segments";
import { Empty, ListSkeleton } from "../../ui/states";

const FILTERS = [
  { value: "all", label: "All" },
  { value: "unread", label: "Unread" },
] as const;

export default function NotificationsPage() {
  const { query: shown, route } = useLocation();
  const isUnreadOnly = shown.unread === "true";
  const list = usePagedList<Notification>(
    async (cursor, signal) => {
      const query = { ...toOffsetQuery(cursor), ...(isUnreadOnly && { unread: "true" as const }) };
      return toPage(await must(api.GET("/api/v1/notifications", { params: { query }, signal })));
    },
    [isUnreadOnly],
  );
  const changes = notificationChanges.value;
  const known = useRef(changes);
  useEffect(() => {
    if (changes !== known.current) void list.reload();
    known.current = changes;
  }, [changes]);
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
        <a class="button quiet" href="/account/notifications">
          Notification settings
        </a>
      </div>
      {items === null && list.error.value === null && <ListSkeleton />}
      {items !== null && items.length > 0 && <RowList items={items} row={drawNotification} />}
      {items?.length === 0 && <NoNotifications isUnreadOnly={isUnreadOnly} />}
      <LoadMore list={list} />
    </Page>
  );
}

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
    <Empty title="No unread notifications" icon="bell" />
  ) : (
    <Empty title="No notifications" icon="bell">
      <p>Offcut notifies you here when work that you started completes, fails or needs your attention.</p>
    </Empty>
  );
