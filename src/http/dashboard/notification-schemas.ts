/** The schemas of notifications and their preferences. */
import { type TSchema, Type } from "@sinclair/typebox";
import { WORKSPACE_ROLES } from "../../domain/access";
import {
  NOTIFICATION_CATEGORIES,
  type NotificationCategory,
  type NotificationPayloads,
  type NotificationType,
} from "../../domain/notifications";
import { NOTIFICATION_CHANNELS, NOTIFICATION_TYPES, PROBLEM_SEVERITIES, PROBLEMS } from "../../domain/states";
import { strictObject } from "../fields";
import { enumeration, id, integer, orNull, text, time } from "../schema-parts";

/** The link of an export is created at each read. */
export type ShownPayloads = Omit<NotificationPayloads, "data_export_ready"> & {
  data_export_ready: NotificationPayloads["data_export_ready"] & { download_url: string | null };
};

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

const assetName = orNull(text, "the file name of the upload");

const pipeline = {
  pipeline_id: id,
  asset_id: orNull(id),
  asset_name: assetName,
  project_id: orNull(id),
  steps: Type.Array(text, { description: "the processors, in order" }),
};

const PAYLOADS: Record<NotificationType, TSchema> = {
  pipeline_completed: strictObject(pipeline),
  pipeline_failed: strictObject({
    ...pipeline,
    failed_step: orNull(text, "the processor that failed"),
    error_code: text,
    error_message: text,
  }),
  asset_pending_payment: strictObject({
    asset_id: id,
    asset_name: assetName,
    project_id: orNull(id),
    credits_required: integer,
  }),
  webhook_disabled: strictObject({
    endpoint_id: id,
    host: text,
    reason: enumeration(
      ["gone", "failing"],
      "`gone`: the receiver answered 410. `failing`: no delivery has succeeded for 5 days",
    ),
    failing_since: orNull(time),
  }),
  subscription_payment_failed: strictObject({
    subscription_id: id,
    price_id: text,
    price_name: orNull(text),
    amount: orNull(integer, "in the smallest unit of the currency"),
    currency: orNull(text),
  }),
  data_export_ready: strictObject({
    status: enumeration(["pending", "ready", "failed", "expired"]),
    requested_at: time,
    has_media: Type.Boolean(),
    finished_at: orNull(time),
    expires_at: orNull(time, "when the download expires"),
    size_bytes: orNull(integer),
    error_message: orNull(text),
    download_url: orNull(
      Type.String({ format: "uri" }),
      "set for a `ready` export; valid for 15 minutes, new in each response",
    ),
  }),
  workspace_invitation: strictObject({
    invitation_id: id,
    invited_workspace_id: id,
    workspace_name: text,
    role: enumeration(WORKSPACE_ROLES),
    invited_by: orNull(text, "name or address of the inviting user"),
    expires_at: time,
  }),
  order_pending: strictObject({
    order_id: id,
    price_name: text,
    credits: integer,
    amount: Type.Integer({ description: "in the smallest unit of the currency" }),
    currency: text,
    ordered_by: Type.String({ description: "address of the user who ordered" }),
  }),
  problem_found: strictObject({
    problem: enumeration(PROBLEMS),
    severity: enumeration(PROBLEM_SEVERITIES),
    title: text,
    detail: Type.String({ description: "the consequence and what to do" }),
    found_at: time,
  }),
  problem_resolved: strictObject({
    problem: enumeration(PROBLEMS),
    title: text,
    problem_title: Type.String({ description: "the title of the problem" }),
    found_at: time,
  }),
};

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
