/** The API representation of notifications. */
import { NOTIFICATION_CATEGORIES, type NotificationPayloads } from "../../domain/notifications";
import type { StoredNotification } from "../../store/notifications";
import type { Principal } from "../../work/access/access";
import { createExportLinks } from "../../work/data-export/requests";
import type { Services } from "../../work/services";
import { formatTime } from "../format-time";
import type { Resource } from "../schemas";
import type { ShownPayloads } from "./notification-schemas";

type ShownPayload = ShownPayloads[keyof ShownPayloads];

type Viewer = { services: Services; principal: Principal };

/** Returns notifications of the principal as the API shows them. The one of an export that can be downloaded gets a new link. */
export async function showNotifications(
  { services, principal }: Viewer,
  rows: StoredNotification[],
): Promise<Resource<"Notification">[]> {
  // Other credentials cannot see notifications of exports.
  const links = rows.some(({ type }) => type === "data_export_ready")
    ? await createExportLinks(services, principal.user.id)
    : new Map<string, string>();
  return rows.map((row) => showNotification(row, links.get(row.id)));
}

/** Returns a notification as the API shows it, with the download link of an export. */
export const showNotification = (row: StoredNotification, link: string | null = null): Resource<"Notification"> =>
  ({
    id: row.id,
    type: row.type,
    category: NOTIFICATION_CATEGORIES[row.type],
    payload: showPayload(row, link),
    workspace_id: row.workspace_id,
    read_at: formatTime(row.read_at),
    created_at: formatTime(row.created_at),
  }) as Resource<"Notification">;

const showPayload = ({ type, payload }: StoredNotification, link: string | null): ShownPayload =>
  type === "data_export_ready"
    ? { ...(payload as NotificationPayloads["data_export_ready"]), download_url: link }
    : (payload as ShownPayload);
