/** The schemas of notifications and their preferences. */
import { type Static, Type } from "@sinclair/typebox";
import { NOTIFICATION_PAYLOADS } from "../../domain/notification-payloads";
import { NOTIFICATION_CATEGORIES, type NotificationCategory, type NotificationType } from "../../domain/notifications";
import { enumeration, id, integer, orNull, strictObject, time } from "../../domain/schema-parts";
import { NOTIFICATION_CHANNELS, NOTIFICATION_TYPES } from "../../domain/states";

/** The link of an export is created at each read. */
const PAYLOADS = {
  ...NOTIFICATION_PAYLOADS,
  data_export_ready: strictObject({
    ...NOTIFICATION_PAYLOADS.data_export_ready.properties,
    download_url: orNull(
      Type.String({ format: "uri" }),
      "set for a `ready` export; valid for 15 minutes, new in each response",
    ),
  }),
};

export type ShownPayloads = { [Type in NotificationType]: Static<(typeof PAYLOADS)[Type]> };

type NotificationItem = {
  [Type in NotificationType]: {
    id: string;
    type: Type;
    category: NotificationCategory;
    payload: ShownPayloads[Type];
    workspace_id: string | null;
    read_at: string | null;
    created_at: string;
  };
}[NotificationType];

const notification = Type.Unsafe<NotificationItem>(
  Type.Union(
    NOTIFICATION_TYPES.map((type) =>
      strictObject({
        id,
        type: Type.Literal(type),
        category: Type.Literal(NOTIFICATION_CATEGORIES[type]),
        payload: PAYLOADS[type],
        workspace_id: orNull(id, "the workspace that it is about"),
        read_at: orNull(time),
        created_at: time,
      }),
    ),
  ),
);

const preference = strictObject({
  type: enumeration(NOTIFICATION_TYPES),
  category: enumeration(["job", "system", "billing", "account"]),
  channel: enumeration(NOTIFICATION_CHANNELS),
  enabled: Type.Boolean(),
  is_default: Type.Boolean({ description: "true if you have not made a choice" }),
  is_mandatory: Type.Boolean({ description: "if true, it cannot be turned off" }),
  is_available: Type.Boolean({
    description:
      "false for `email` while no mail can be sent, because the server sends none or your address is not confirmed",
  }),
});

export const NOTIFICATION_SCHEMAS = {
  Notification: notification,
  NotificationList: strictObject({
    items: Type.Array(notification),
    unread_count: Type.Integer({ description: "number of all your unread notifications" }),
    total: integer,
    limit: integer,
    offset: integer,
  }),
  LatestDataExport: strictObject({
    notification: Type.Unsafe<NotificationItem | null>(
      orNull(notification, "notification of the latest export; null before the first"),
    ),
    written_bytes: orNull(
      integer,
      "bytes written so far of a `pending` export; null until it has started, and in other states",
    ),
  }),
  NotificationPreferences: strictObject({
    items: Type.Array(preference, { description: "all types and channels, always in the same order" }),
  }),
};
