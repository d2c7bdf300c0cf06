/** The mails that the server sends, by the names under which they are stored. */
import type { Mail } from "../../../domain/mail";
import { ACCOUNT_TEMPLATES, type AccountMails } from "./account";
import { createMail } from "./layout";
import { NOTIFICATION_TEMPLATES, type NotificationMails } from "./notifications";

export type MailValues = AccountMails & NotificationMails;

export type MailTemplate = keyof MailValues;

const TEMPLATES = { ...ACCOUNT_TEMPLATES, ...NOTIFICATION_TEMPLATES };

/** Mails that users are waiting for. They are sent first. */
export const URGENT_TEMPLATES: MailTemplate[] = ["sign_in_code", "password_reset", "email_verification"];

/** Creates a mail from a stored template. Returns null for a template that this version does not have. */
export function renderMail(to: string, template: string, values: unknown, now: number): Mail | null {
  if (!Object.hasOwn(TEMPLATES, template)) return null;
  const render = TEMPLATES[template as MailTemplate] as (
    values: unknown,
    now: number,
  ) => Parameters<typeof createMail>[1];
  return createMail(to, render(values, now));
}

/** Returns when a mail becomes obsolete, in milliseconds since 1970; null: never. */
export function findMailExpiry(values: unknown): number | null {
  const { expires_at: expiresAt } = values as { expires_at?: number };
  return expiresAt ?? null;
}
