/** Notifications: their categories, and the channels on which a user receives them. */
import type { Static } from "@sinclair/typebox";
import type { NOTIFICATION_PAYLOADS } from "./notification-payloads";
import { NOTIFICATION_CHANNELS, NOTIFICATION_TYPES } from "./states";

export type NotificationType = (typeof NOTIFICATION_TYPES)[number];
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number];

/** The payload of each type, as it is stored. */
export type NotificationPayloads = {
  [Type in NotificationType]: Static<(typeof NOTIFICATION_PAYLOADS)[Type]>;
};

export type NotificationCategory = "job" | "system" | "billing" | "account";

export const NOTIFICATION_CATEGORIES: Record<NotificationType, NotificationCategory> = {
  pipeline_completed: "job",
  pipeline_failed: "job",
  asset_pending_payment: "job",
  webhook_disabled: "system",
  subscription_payment_failed: "billing",
  data_export_ready: "account",
  workspace_invitation: "account",
  order_pending: "billing",
  problem_found: "system",
  problem_resolved: "system",
};

/** Mails about completed work are off by default: a user who works all day would get one every 10 minutes. */
const OFF_BY_DEFAULT: readonly string[] = ["pipeline_completed/email"];
const MANDATORY: readonly string[] = [
  "subscription_payment_failed/email",
  "data_export_ready/in_app",
  "problem_found/in_app",
];

export type NotificationTarget = { type: NotificationType; channel: NotificationChannel };

export type NotificationChoice = NotificationTarget & { enabled: boolean };

export const isMandatory = ({ type, channel }: NotificationTarget): boolean => MANDATORY.includes(`${type}/${channel}`);

/** A choice merged with the defaults. `isDefault`: the user has not chosen. */
export type NotificationPreference = NotificationChoice & { isDefault: boolean; isMandatory: boolean };

/** Returns the preference for a type and channel. A mandatory one is always on, regardless of the stored choice. */
export function resolvePreference(
  target: NotificationTarget,
  choices: readonly NotificationChoice[],
): NotificationPreference {
  const { type, channel } = target;
  const isOn = isMandatory(target);
  const choice = choices.find((one) => one.type === type && one.channel === channel);
  if (choice && (!isOn || choice.enabled))
    return { ...target, enabled: choice.enabled, isDefault: false, isMandatory: isOn };
  return { ...target, enabled: !OFF_BY_DEFAULT.includes(`${type}/${channel}`), isDefault: true, isMandatory: isOn };
}

/** Returns every type and channel in the order of the API. */
export const resolvePreferences = (choices: readonly NotificationChoice[]): NotificationPreference[] =>
  NOTIFICATION_TYPES.flatMap((type) =>
    NOTIFICATION_CHANNELS.map((channel) => resolvePreference({ type, channel }, choices)),
  );

export type TypedNotification = {
  [Type in NotificationType]: { type: Type; payload: NotificationPayloads[Type] };
}[NotificationType];

/** Time for which a user is assumed to wait for a single cut or render. */
const MAX_AWAITED_MS = 60_000;

/** `tookMs`: the time from the request of the work to its end, if the notification is about work. */
export type TimedNotification = TypedNotification & { tookMs?: number };

/**
 * Returns whether a notification goes to a channel. The completion of a pipeline with one step, such as a cut of `/v1`,
 * does so only if it took more than a minute or if the user has chosen it: clients that request a single cut or render
 * wait for it.
 */
export function goesTo(
  notification: TimedNotification,
  channel: NotificationChannel,
  choices: readonly NotificationChoice[],
): boolean {
  const { enabled, isDefault } = resolvePreference({ type: notification.type, channel }, choices);
  const { tookMs = 0 } = notification;
  if (notification.type === "pipeline_completed" && notification.payload.steps.length < 2 && tookMs <= MAX_AWAITED_MS)
    return enabled && !isDefault;
  // The mail follows when the export has ended.
  if (notification.type === "data_export_ready" && channel === "email")
    return enabled && ["ready", "failed"].includes(notification.payload.status);
  // The invitation itself is mailed to the address, which may have no account.
  if (notification.type === "workspace_invitation" && channel === "email") return false;
  return enabled;
}
