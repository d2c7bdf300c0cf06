/** Mails: their content, and when a failed one is retried. */
import { HOUR_MS, MINUTE_MS } from "./time";

/** A mail to one address. `text` and `html` say the same. */
export type Mail = { to: string; subject: string; text: string; html: string };

/** `refused`: a retry is useless. `failed`: the server is unreachable or asks to retry. `detail` is one line. */
export type MailResult =
  | { outcome: "sent" }
  | { outcome: "refused"; detail: string }
  | { outcome: "failed"; detail: string };

/** Delays before each retry. Links in mails expire after an hour at the earliest. */
const RETRY_DELAYS_MS = [10_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS];

/** Returns the delay until the next attempt after `attempts` attempts, in milliseconds; null if there is none. */
export const findMailRetryDelay = (attempts: number): number | null => RETRY_DELAYS_MS[attempts - 1] ?? null;
