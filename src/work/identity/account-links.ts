/** Account links: email verification, password reset and invitations. URLs come from the configuration only. */
import type { Queries } from "../../store/db";
import { countRecentTokens } from "../../store/one-time-tokens";
import type { User } from "../../store/users";
import type { MailNeeds } from "../mail/mails";
import type { CoreNeeds } from "../needs";
import { createOneTimeToken, type IssuedToken } from "./one-time-tokens";

/** A link. `expiresAt` in milliseconds since 1970. */
export type AccountLink = { url: string; expiresAt: number };

const PATHS = { email_verification: "verify-email", password_reset: "reset-password", invitation: "invitation" };

/** Creates the link to the page that uses a token. The `#` keeps the token out of requests and `Referer` headers. */
export const toAccountLink = (
  { publicUrl }: MailNeeds,
  purpose: keyof typeof PATHS,
  { token, expiresAt }: IssuedToken,
): AccountLink => ({ url: `${publicUrl()}/${PATHS[purpose]}#${token}`, expiresAt });

type MailedPurpose = "email_verification" | "password_reset";

const HOUR_MS = 3600_000;
const MAX_MAILED_LINKS_PER_HOUR = 5;

/** Returns how many milliseconds to wait before mailing the user another link; 0: none. */
export async function findLinkWait(
  { now }: CoreNeeds,
  db: Queries,
  userId: string,
  purpose: MailedPurpose,
): Promise<number> {
  const since = now() - HOUR_MS;
  const { count, firstAt } = await countRecentTokens(db, userId, purpose, since);
  return count < MAX_MAILED_LINKS_PER_HOUR || firstAt === null ? 0 : firstAt - since;
}

/** Mails a link to a user. Only someone who reads that mailbox can use it. */
export async function mailLink(
  services: MailNeeds,
  tx: Queries,
  { id: userId, email }: Pick<User, "email" | "id">,
  purpose: MailedPurpose,
): Promise<void> {
  const now = services.now();
  const createData = () => ({ [VERIFIES_ADDRESS]: true });
  const issued = await createOneTimeToken(tx, { purpose, userId, email, createData, now });
  const { url, expiresAt } = toAccountLink(services, purpose, issued);
  const values = { url, expires_at: expiresAt };
  await services.mails.queue(tx, { to: email, userId, template: purpose, values }, now);
}

/** Marks a token whose use proves that the user owns the address. */
export const VERIFIES_ADDRESS = "verifies_address";
