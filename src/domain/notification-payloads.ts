/** The payload of each type of notification. Pure. */
import { type TSchema, Type } from "@sinclair/typebox";
import { WORKSPACE_ROLES } from "./access";
import { enumeration, id, integer, orNull, strictObject, text, time } from "./schema-parts";
import { type NOTIFICATION_TYPES, PROBLEM_SEVERITIES, PROBLEMS } from "./states";

const assetName = orNull(text, "the name of the recording, or its file name if it was not renamed");

const pipeline = {
  pipeline_id: id,
  asset_id: orNull(id),
  asset_name: assetName,
  project_id: orNull(id),
  steps: Type.Array(text, { description: "the processors, in order" }),
};

/** The schema of the payload of each type, as it is stored. Times are ISO 8601. */
export const NOTIFICATION_PAYLOADS = {
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
  // `host` is that of the URL, whose path may be secret.
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
  }),
  // The recipient is not a member of the workspace yet.
  workspace_invitation: strictObject({
    invitation_id: id,
    invited_workspace_id: id,
    workspace_name: text,
    role: enumeration(WORKSPACE_ROLES),
    invited_by: orNull(text, "name or address of the inviting user"),
    expires_at: time,
  }),
  // For administrators, as those of problems.
  order_pending: strictObject({
    order_id: id,
    price_name: text,
    credits: integer,
    amount: Type.Integer({ description: "in the smallest unit of the currency" }),
    currency: text,
    ordered_by: Type.String({ description: "address of the user who ordered" }),
  }),
  // Daily while it lasts. `title` has no period, `detail` has 1 or 2 sentences.
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
} satisfies Record<(typeof NOTIFICATION_TYPES)[number], TSchema>;
