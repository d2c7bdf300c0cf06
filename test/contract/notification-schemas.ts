/** Notifications and their preferences as strict schemas, written independently of the server's. */
import { type TProperties, Type } from "@sinclair/typebox";
import { count, exactly, oneOf, orNull, text, time, url, uuid } from "./schema-parts";

const pipelineNotice = {
  pipeline_id: uuid,
  asset_id: orNull(uuid),
  asset_name: orNull(text),
  project_id: orNull(uuid),
  steps: Type.Array(text),
};

const notificationOf = (type: string, category: string, payload: TProperties) =>
  exactly({
    id: uuid,
    type: oneOf(type),
    category: oneOf(category),
    payload: exactly(payload),
    workspace_id: orNull(uuid),
    read_at: orNull(time),
    created_at: time,
  });

const problem = oneOf(
  "database_damaged",
  "backups_failing",
  "drill_failed",
  "folder_offline",
  "files_damaged",
  "disk_space",
  "certificate",
  "worker_gone",
  "webhooks_failing",
);

export const notification = Type.Union([
  notificationOf("pipeline_completed", "job", pipelineNotice),
  notificationOf("pipeline_failed", "job", {
    ...pipelineNotice,
    failed_step: orNull(text),
    error_code: text,
    error_message: text,
  }),
  notificationOf("asset_pending_payment", "job", {
    asset_id: uuid,
    asset_name: orNull(text),
    project_id: orNull(uuid),
    credits_required: count,
  }),
  notificationOf("webhook_disabled", "system", {
    endpoint_id: uuid,
    host: text,
    reason: oneOf("gone", "failing"),
    failing_since: orNull(time),
  }),
  notificationOf("subscription_payment_failed", "billing", {
    subscription_id: uuid,
    price_id: text,
    price_name: orNull(text),
    amount: orNull(count),
    currency: orNull(text),
  }),
  notificationOf("data_export_ready", "account", {
    status: oneOf("pending", "ready", "failed", "expired"),
    requested_at: time,
    has_media: Type.Boolean(),
    finished_at: orNull(time),
    expires_at: orNull(time),
    size_bytes: orNull(count),
    error_message: orNull(text),
    download_url: orNull(url),
  }),
  notificationOf("workspace_invitation", "account", {
    invitation_id: uuid,
    invited_workspace_id: uuid,
    workspace_name: text,
    role: oneOf("owner", "editor", "viewer"),
    invited_by: orNull(text),
    expires_at: time,
  }),
  notificationOf("order_pending", "billing", {
    order_id: uuid,
    price_name: text,
    credits: count,
    amount: count,
    currency: text,
    ordered_by: text,
  }),
  notificationOf("problem_found", "system", {
    problem,
    severity: oneOf("warning", "critical"),
    title: text,
    detail: text,
    found_at: time,
  }),
  notificationOf("problem_resolved", "system", { problem, title: text, problem_title: text, found_at: time }),
]);

export const notificationList = exactly({
  items: Type.Array(notification),
  unread_count: count,
  total: count,
  limit: Type.Integer({ minimum: 1 }),
  offset: count,
});

export const notificationPreferences = exactly({
  items: Type.Array(
    exactly({
      type: text,
      category: oneOf("job", "system", "billing", "account"),
      channel: oneOf("in_app", "email"),
      enabled: Type.Boolean(),
      is_default: Type.Boolean(),
      is_mandatory: Type.Boolean(),
      is_available: Type.Boolean(),
    }),
  ),
});
