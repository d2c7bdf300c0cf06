import { useLocation } from "preact-iso";
import { describeNotification } from "./notification-texts";
import { markRead, type Notification } from "./notifications";
import { chooseWorkspace, workspaces } from "./session";

/** Returns the address to which a notification links; null if it is in a workspace that the user has left. */
export function findTarget(notification: Notification): string | null {
  const { workspace_id: id } = notification;
  const isReachable = id === null || workspaces.value.some((one) => one.id === id);
  return isReachable ? describeNotification(notification).href : null;
}

/** Returns the click handler of a notification's link. It marks the notification as read and enters its workspace. */
export function useOpenNotification(): (event: MouseEvent, notification: Notification) => void {
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
