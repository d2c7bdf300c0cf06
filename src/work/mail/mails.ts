/** Mails: stored in the transaction of their cause, and sent afterwards by `sender.ts`. */
import { NOTIFICATION_TYPES } from "../../domain/states";
import { newId } from "../../lib/ids";
import type { Log } from "../../lib/log";
import type { Sealer } from "../../lib/sealer";
import type { Queries } from "../../store/db";
import { countRecentMails, insertMail, type StoredMail } from "../../store/mails";
import type { User } from "../../store/users";
import type { CoreNeeds } from "../needs";
import type { MailTemplate, MailValues } from "./templates";

/** `userId`: the recipient's account, if there is one. */
export type MailRequest<Template extends MailTemplate> = {
  to: string;
  userId: string | null;
  template: Template;
  values: MailValues[Template];
};

export type MailNeeds = CoreNeeds & {
  mails: Mails;
  /** Returns the URL at which clients reach this server, without a trailing slash. */
  publicUrl(): string;
};

/** Returns whether unsolicited mails can be sent to the user, which requires a confirmed address. */
export const canMail = ({ mails }: { mails: Mails }, user: Pick<User, "email_verified_at">): boolean =>
  mails.isConfigured && user.email_verified_at !== null;

/** Protects a mailbox from floods. The actions that send mails have their own, lower limits. */
const MAX_MAILS_PER_HOUR = 30;
/** A session can cause any number of these. They have a separate limit, so that sign-in codes are not dropped. */
const KEY_TEMPLATE: MailTemplate = "api_key_created";
const MAX_KEY_MAILS_PER_HOUR = 10;
/** `notification-mails.ts` limits notifications, for the same reason. */
const OTHER_TEMPLATES: readonly string[] = [...NOTIFICATION_TYPES, KEY_TEMPLATE];
const HOUR_MS = 3600_000;

const toContext = (id: string): string => `mails/${id}`;

/** Creates the part of the mail queue that requests use. */
export const createMails = (services: { isConfigured: boolean; sealer: Sealer; log: Log }) => ({
  /** Whether a mail server is configured. */
  isConfigured: services.isConfigured,
  /** Stores a mail, which is sent after the commit. Drops it without a mail server or beyond the recipient's limit. */
  queue: async <Template extends MailTemplate>(
    tx: Queries,
    { to, userId, template, values }: MailRequest<Template>,
    now: number,
  ): Promise<void> => {
    const { isConfigured, sealer, log } = services;
    if (!isConfigured) return;
    const id = newId();
    const isKeyMail = template === KEY_TEMPLATE;
    const counted = isKeyMail ? { only: KEY_TEMPLATE } : { except: OTHER_TEMPLATES };
    const max = isKeyMail ? MAX_KEY_MAILS_PER_HOUR : MAX_MAILS_PER_HOUR;
    const isLimited = isKeyMail || !OTHER_TEMPLATES.includes(template);
    if (isLimited && (await countRecentMails(tx, { userId, address: to }, now - HOUR_MS, counted)) >= max) {
      log.warn("mail.dropped", { template, advice: `the recipient got ${max} mails within an hour` });
      return;
    }
    await insertMail(tx, {
      id,
      user_id: userId,
      recipient: to,
      template,
      sealed_values: sealer.seal(JSON.stringify(values), toContext(id)),
      state: "pending",
      due_at: now,
      created_at: now,
    });
  },
});

export type Mails = ReturnType<typeof createMails>;

/** Returns the values of a stored mail, or null if they cannot be decrypted. */
export function readMailValues(sealer: Sealer, mail: StoredMail): unknown {
  const text = mail.sealed_values === null ? null : sealer.open(mail.sealed_values, toContext(mail.id));
  return text === null ? null : JSON.parse(text);
}
