/** The texts of notifications, and the pages to which they link. Pure. */
import type { IconName } from "../ui/icon";
import { formatCount, formatDay } from "./format";
import type { Notification } from "./notifications";
import { nameSteps } from "./pipelines";

export type NotificationText = { title: string; detail: string; icon: IconName; href: string };

const toRecording = (name: string | null): string => (name === null ? "a recording" : `“${name}”`);

/** Returns the text of a notification and its link. */
export function describeNotification(notification: Notification): NotificationText {
  const { payload, type } = notification;
  switch (type) {
    case "pipeline_completed":
      return {
        title: `${nameSteps(payload.steps)} of ${toRecording(payload.asset_name)} completed`,
        detail: "The results are on the page of the recording.",
        icon: "check",
        href: `/jobs/${payload.pipeline_id}`,
      };
    case "pipeline_failed":
      return {
        title: `${nameSteps(payload.failed_step === null ? payload.steps : [payload.failed_step])} of ${toRecording(payload.asset_name)} failed`,
        detail: payload.error_message,
        icon: "warning",
        href: `/jobs/${payload.pipeline_id}`,
      };
    case "asset_pending_payment":
      return {
        title: `${capitalize(toRecording(payload.asset_name))} is waiting for ${formatCount(payload.credits_required, "credit")}`,
        detail: "Preparation continues when the workspace has enough credits.",
        icon: "warning",
        href: `/assets/${payload.asset_id}`,
      };
    case "webhook_disabled":
      return {
        title: `The webhook endpoint at ${payload.host} was disabled`,
        detail: `${describeReason(payload)} Enable it when its receiver works; events that occur until then are not sent.`,
        icon: "warning",
        href: `/webhooks/${payload.endpoint_id}`,
      };
    case "subscription_payment_failed":
      return {
        title: `The payment for ${payload.price_name ?? payload.price_id} failed`,
        detail: "Check your payment method. You keep the credits that you have.",
        icon: "warning",
        href: "/credits",
      };
    case "workspace_invitation":
      return {
        title: `${payload.invited_by ?? "A former member"} invites you to ${payload.workspace_name}`,
        detail: `Accept to work there as ${payload.role === "viewer" ? "a" : "an"} ${payload.role}.`,
        icon: "user",
        href: "/workspaces",
      };
    case "order_pending":
      return {
        title: `An order by ${payload.ordered_by} is waiting for approval`,
        detail: payload.price_name,
        icon: "credits",
        href: "/admin/orders",
      };
    case "problem_found":
      return {
        title: payload.title,
        detail: payload.detail,
        icon: "warning",
        href: PROBLEM_PAGES[payload.problem] ?? "/admin/health",
      };
    case "problem_resolved":
      return {
        title: payload.title,
        detail: `It was reported as “${payload.problem_title}”.`,
        icon: "check",
        href: PROBLEM_PAGES[payload.problem] ?? "/admin/health",
      };
    default:
      return { ...describeExport(payload), href: "/account/data" };
  }
}

/** The page that helps with a problem of the server. */
export const PROBLEM_PAGES: Record<Payload<"problem_found">["problem"], string> = {
  database_damaged: "/admin/health",
  backups_failing: "/admin/backups",
  drill_failed: "/admin/backups",
  folder_offline: "/admin/health",
  files_damaged: "/admin/storage",
  disk_space: "/admin/storage",
  certificate: "/admin/health",
  worker_gone: "/admin/workers",
  webhooks_failing: "/admin/health",
};

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

type Payload<Type extends Notification["type"]> = Extract<Notification, { type: Type }>["payload"];

const describeReason = ({ reason, failing_since: since }: Payload<"webhook_disabled">): string =>
  reason === "gone"
    ? "Its receiver returned 410 Gone."
    : `No delivery has succeeded${since === null ? "" : ` since ${formatDay(since)}`}.`;

function describeExport(payload: Payload<"data_export_ready">): Omit<NotificationText, "href"> {
  const { status, expires_at: expires, error_message: message } = payload;
  switch (status) {
    case "ready":
      return {
        title: "Your data export is ready",
        detail: expires === null ? "Download it." : `It can be downloaded until ${formatDay(expires)}.`,
        icon: "check",
      };
    case "failed":
      return {
        title: "Your data export failed",
        detail: `${message ?? "The archive could not be created."} Request it again.`,
        icon: "warning",
      };
    case "expired":
      return { title: "Your data export has expired", detail: "Request a new one if you need it.", icon: "check" };
    default:
      return {
        title: "Your data export is in progress",
        detail: "You are notified here when it is ready.",
        icon: "info",
      };
  }
}
