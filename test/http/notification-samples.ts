/** A notification of each type, and sending them to users of a server. */
import type { NotificationPayloads, NotificationType, TypedNotification } from "../../src/domain/notifications";
import { newId } from "../../src/lib/ids";
import type { StoredNotification } from "../../src/store/notifications";
import { notify } from "../../src/work/notifications/notifications";
import type { Client } from "./client";
import type { Harness } from "./harness";

const ID = "0190a0b0-0000-7000-8000-000000000000";
const AT = "2027-01-15T08:00:00.000Z";

const pipeline = { pipeline_id: ID, asset_id: ID, asset_name: "talk.mp4", project_id: ID, steps: ["cut", "render"] };

export const PAYLOADS: NotificationPayloads = {
  pipeline_completed: pipeline,
  pipeline_failed: {
    ...pipeline,
    failed_step: "render",
    error_code: "processing_failed",
    error_message: "The render failed.",
  },
  asset_pending_payment: { asset_id: ID, asset_name: "talk.mp4", project_id: ID, credits_required: 3 },
  webhook_disabled: { endpoint_id: ID, host: "hooks.example", reason: "gone", failing_since: AT },
  subscription_payment_failed: {
    subscription_id: ID,
    price_id: "studio",
    price_name: "Studio",
    amount: 1900,
    currency: "eur",
  },
  data_export_ready: {
    status: "pending",
    requested_at: AT,
    has_media: false,
    finished_at: null,
    expires_at: null,
    size_bytes: null,
    error_message: null,
  },
  workspace_invitation: {
    invitation_id: ID,
    invited_workspace_id: ID,
    workspace_name: "Studio",
    role: "editor",
    invited_by: "Grace Hopper",
    expires_at: AT,
  },
  order_pending: {
    order_id: ID,
    price_name: "600 credits",
    credits: 600,
    amount: 1200,
    currency: "eur",
    ordered_by: "ada@studio.example",
  },
  problem_found: {
    problem: "worker_gone",
    severity: "warning",
    title: "Worker render-2 is gone",
    detail: "It was last seen more than 10 minutes ago.",
    found_at: AT,
  },
  problem_resolved: {
    problem: "worker_gone",
    title: "All workers are back",
    problem_title: "Worker render-2 is gone",
    found_at: AT,
  },
};

/** Returns a notification of a type; `change` replaces parts of its payload. */
export const sample = (type: NotificationType, change: object = {}): TypedNotification =>
  ({ type, payload: { ...PAYLOADS[type], ...change } }) as TypedNotification;

/** Notifies a user of a new cause. Returns null if nothing is stored. */
export function send(
  server: Harness,
  { userId }: Pick<Client, "userId">,
  notification: TypedNotification,
): Promise<StoredNotification | null> {
  const { store, now } = server.services();
  return store.write((tx) => notify(tx, { ...notification, userId, workspaceId: null, cause: newId(), now: now() }));
}
