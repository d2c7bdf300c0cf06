/** The texts of the notification preferences. */
import type { Schemas } from "../../app/api";

export type Preference = Schemas["NotificationPreferences"]["items"][number];

type Text = { title: string; detail: string };

const TEXTS: Record<Preference["type"], Text> = {
  pipeline_completed: {
    title: "Job completed",
    detail:
      "A job that you started has completed. Single cuts and renders are included only if you turn this on yourself.",
  },
  pipeline_failed: { title: "Job failed", detail: "A cut or render that you started has failed." },
  asset_pending_payment: {
    title: "Recording needs credits",
    detail: "A recording is ready when the workspace has enough credits.",
  },
  webhook_disabled: { title: "Webhook endpoint disabled", detail: "Its deliveries have failed for too long." },
  subscription_payment_failed: { title: "Payment failed", detail: "The payment for a subscription has failed." },
  workspace_invitation: { title: "Invitation", detail: "Somebody invites you to a workspace." },
  order_pending: { title: "Order awaiting approval", detail: "For administrators: an order is waiting for approval." },
  problem_found: {
    title: "Server problem",
    detail: "For administrators: something on the server needs attention. Once a day while it lasts.",
  },
  problem_resolved: { title: "Server problem solved", detail: "For administrators: a reported problem has ended." },
  data_export_ready: { title: "Data export", detail: "The export of your data is ready, or has failed." },
};

/** Returns the texts of a notification type. An unknown type gets its name from the API. */
export const toPreferenceText = (type: Preference["type"]): Text =>
  TEXTS[type] ?? { title: type.replaceAll("_", " "), detail: "" };

export const CATEGORY_NAMES: Record<Preference["category"], string> = {
  job: "Recordings, cuts and renders",
  system: "Integrations",
  billing: "Billing",
  account: "Account",
};

export const CHANNEL_NAMES: Record<Preference["channel"], string> = { in_app: "In app", email: "Email" };

/** Reasons why a channel of a type cannot be turned off. */
const MANDATORY_TEXTS: Record<string, string> = {
  "data_export_ready/in_app": "Always shown in the app, because it has the download link.",
  "subscription_payment_failed/email": "Always sent by email, because the subscription ends without payment.",
  "problem_found/in_app": "Always shown in the app, so that no problem is missed.",
};

/** Returns why a channel of a type cannot be turned off. */
export const toMandatoryText = ({ type, channel }: Preference): string => MANDATORY_TEXTS[`${type}/${channel}`] ?? "";
