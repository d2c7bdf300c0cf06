/** Notification mails: one per type, for all notifications since the last one. */
import type { NotificationPayloads, NotificationType } from "../../../domain/notifications";
import { type MailContent, shortenText } from "./layout";

/** `url`: the server's. `items`: the newest ones, at most `MAX_LISTED_NOTIFICATIONS`, of `total`. */
export type NotificationMails = {
  [Type in NotificationType]: { url: string; items: NotificationPayloads[Type][]; total: number };
};

export const MAX_LISTED_NOTIFICATIONS = 20;

const MAX_NAME_CHARACTERS = 80;
const MAX_MESSAGE_CHARACTERS = 200;
const MAX_PROBLEM_CHARACTERS = 600;

const OPTIONAL = "Choose which of these emails you get in your notification preferences.";

type Wording<Type extends NotificationType> = {
  /** The subject for one notification and for several. */
  one(payload: NotificationPayloads[Type]): string;
  several(total: number): string;
  /** The line about one notification. */
  line(payload: NotificationPayloads[Type]): string;
  notes?: readonly string[];
  /** The target of the link. Default: the server. */
  link?: { label: string; path: string };
};

const toName = (text: string): string => shortenText(text, MAX_NAME_CHARACTERS);
/** Returns the name of a step for users. */
const toStep = (step: string): string => (step === "prepare" ? "preparation" : toName(step));
const toRecording = (name: string | null): string => (name === null ? "A recording" : `"${toName(name)}"`);
const toMessage = (text: string): string => shortenText(text, MAX_MESSAGE_CHARACTERS);
const toProblemDetail = (text: string): string => shortenText(text, MAX_PROBLEM_CHARACTERS);
const toCredits = (credits: number): string => `${credits} ${credits === 1 ? "credit" : "credits"}`;
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** Formats a day for a reader whose language is unknown: "31 January 2027". */
const toDay = (time: string): string => DAY.format(new Date(time));

/** Formats an amount in the smallest unit of its currency: `19.00 EUR`. */
function formatAmount(amount: number | null, currency: string | null): string | null {
  if (amount === null || currency === null || !/^[a-z]{3}$/i.test(currency)) return null;
  const name = currency.toUpperCase();
  const format = new Intl.NumberFormat("en", { style: "currency", currency: name });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return `${(amount / 10 ** digits).toFixed(digits)} ${name}`;
}

const HEALTH_LINK = { label: "Administration, Health", path: "/admin/health" };

const createTemplate =
  <Type extends NotificationType>({ one, several, line, notes = [], link }: Wording<Type>) =>
  ({ url, items, total }: NotificationMails[Type]): MailContent => {
    const subject = total === 1 ? one(items[0]!) : several(total);
    const more = total - items.length;
    return {
      subject,
      paragraphs: [`${subject}${total === 1 ? "." : ":"}`],
      items: [...items.map(line), ...(more > 0 ? [`and ${more} more`] : [])],
      link: link === undefined ? { label: "Offcut", url } : { label: link.label, url: `${url}${link.path}` },
      notes,
    };
  };

export const NOTIFICATION_TEMPLATES: { [Type in NotificationType]: (mail: NotificationMails[Type]) => MailContent } = {
  pipeline_completed: createTemplate<"pipeline_completed">({
    one: ({ asset_name: name }) => `${toRecording(name)} is complete`,
    several: (total) => `${total} jobs are complete`,
    line: ({ asset_name: name, steps }) => `${toRecording(name)}: ${steps.map(toStep).join(", ")}`,
    notes: [OPTIONAL],
  }),
  pipeline_failed: createTemplate<"pipeline_failed">({
    one: ({ asset_name: name }) => `${toRecording(name)} has failed`,
    several: (total) => `${total} jobs have failed`,
    line: ({ asset_name: name, failed_step: step, error_message: message }) =>
      `${toRecording(name)}: ${step === null ? "" : `${toStep(step)} failed. `}${toMessage(message)}`,
    notes: [OPTIONAL],
  }),
  asset_pending_payment: createTemplate<"asset_pending_payment">({
    one: ({ asset_name: name, credits_required: credits }) =>
      `${toRecording(name)} is waiting for ${toCredits(credits)}`,
    several: (total) => `${total} recordings are waiting for credits`,
    line: ({ asset_name: name, credits_required: credits }) => `${toRecording(name)}: ${toCredits(credits)}`,
    notes: ["Processing continues as soon as the workspace has the credits.", OPTIONAL],
  }),
  webhook_disabled: createTemplate<"webhook_disabled">({
    one: ({ host }) => `The webhook endpoint at ${toName(host)} was disabled`,
    several: (total) => `${total} webhook endpoints were disabled`,
    line: ({ host, reason, failing_since: since }) =>
      reason === "gone"
        ? `${toName(host)}: it responded with 410 Gone.`
        : `${toName(host)}: no delivery has succeeded${since === null ? "" : ` since ${toDay(since)}`}.`,
    notes: [
      "Enable an endpoint again when its receiver works. Events that occurred in the meantime are not sent.",
      OPTIONAL,
    ],
  }),
  subscription_payment_failed: createTemplate<"subscription_payment_failed">({
    one: () => "The payment of your subscription has failed",
    several: (total) => `${total} payments of your subscriptions have failed`,
    line: ({ price_id: id, price_name: name, amount, currency }) =>
      [toName(name ?? id), formatAmount(amount, currency)].filter((part) => part !== null).join(": "),
    notes: ["Check your payment method."],
  }),
  data_export_ready: createTemplate<"data_export_ready">({
    one: ({ status }) => (status === "failed" ? "Your data export has failed" : "Your data export is ready"),
    several: (total) => `${total} data exports have ended`,
    line: ({ status, requested_at: requestedAt, expires_at: expiresAt, error_message: message }) =>
      `Requested on ${toDay(requestedAt)}: ${
        status === "failed"
          ? toMessage(message ?? "It has failed.")
          : `ready${expiresAt === null ? "" : `, download it by ${toDay(expiresAt)}`}`
      }`,
    notes: [OPTIONAL],
  }),
  workspace_invitation: createTemplate<"workspace_invitation">({
    one: ({ workspace_name: name }) => `Invitation to ${toName(name)}`,
    several: (total) => `${total} invitations`,
    line: ({ workspace_name: name, role }) => `${toName(name)}: ${role}`,
    notes: [OPTIONAL],
  }),
  order_pending: createTemplate<"order_pending">({
    one: ({ ordered_by: by }) => `An order by ${toName(by)} is waiting for approval`,
    several: (total) => `${total} orders are waiting for approval`,
    line: ({ price_name: name, ordered_by: by, amount, currency }) =>
      `${toName(name)} for ${toName(by)}: ${formatAmount(amount, currency)}`,
    notes: ["Approve or reject them in Administration, Orders.", OPTIONAL],
  }),
  problem_found: createTemplate<"problem_found">({
    one: ({ title }) => toMessage(title),
    several: (total) => `${total} problems of the server`,
    line: ({ title, detail }) => `${toMessage(title)}. ${toProblemDetail(detail)}`,
    notes: ["Offcut reports a problem once a day while it lasts.", OPTIONAL],
    link: HEALTH_LINK,
  }),
  problem_resolved: createTemplate<"problem_resolved">({
    one: ({ title }) => toMessage(title),
    several: (total) => `${total} problems of the server are resolved`,
    line: ({ title, problem_title: problem, found_at: since }) =>
      `${toMessage(title)}. Found on ${toDay(since)}: ${toMessage(problem)}.`,
    notes: [OPTIONAL],
    link: HEALTH_LINK,
  }),
};
