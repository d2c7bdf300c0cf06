/** The device authorization grant of OAuth 2.0 (RFC 8628): codes that users compare, polls of a device, and errors. */
import { AppError } from "./errors";
import type { DEVICE_CODE_STATES } from "./states";

/** The letters of user codes (section 6.1), shown as `WDJB-MJHT`: without vowels, so that they spell no words. */
export const USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
export const USER_CODE_LENGTH = 8;

export const formatUserCode = (code: string): string =>
  `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;

/** Returns the letters of a typed code, or null if it is invalid. Case, spaces and hyphens are ignored. */
export function parseUserCode(text: string): string | null {
  const code = text.replace(/[\s-]/g, "").toUpperCase();
  return code.length === USER_CODE_LENGTH && [...code].every((letter) => USER_CODE_LETTERS.includes(letter))
    ? code
    : null;
}

/** Times in milliseconds since 1970. */
type PolledCode = {
  state: (typeof DEVICE_CODE_STATES)[number];
  interval_seconds: number;
  last_polled_at: number | null;
  expires_at: number;
};

export type PollResult =
  | { kind: "issue_key" }
  | { kind: "refuse"; error: "access_denied" | "expired_token" | "invalid_grant" }
  | { kind: "wait"; error: "authorization_pending" | "slow_down"; intervalSeconds: number };

/** Initial time between two polls. */
export const POLL_INTERVAL_SECONDS = 5;
/** Seconds that RFC 8628 adds to the interval with each `slow_down`. */
const SLOW_DOWN_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 60;
/** Tolerance for varying delays of requests. */
const TOLERANCE_MS = 500;

/** Returns the result of a poll at `now`. */
export function decidePoll(code: PolledCode, now: number): PollResult {
  const { state, interval_seconds: interval, last_polled_at: last } = code;
  if (state === "exchanged") return { kind: "refuse", error: "invalid_grant" };
  if (state === "denied") return { kind: "refuse", error: "access_denied" };
  if (code.expires_at <= now) return { kind: "refuse", error: "expired_token" };
  if (state === "approved") return { kind: "issue_key" };
  const isEarly = last !== null && now < last + interval * 1000 - TOLERANCE_MS;
  if (!isEarly) return { kind: "wait", error: "authorization_pending", intervalSeconds: interval };
  const slower = Math.min(interval + SLOW_DOWN_SECONDS, MAX_INTERVAL_SECONDS);
  return { kind: "wait", error: "slow_down", intervalSeconds: slower };
}

/** Errors of RFC 6749, section 5.2, and of RFC 8628, section 3.5. */
export type OAuthErrorCode =
  | "access_denied"
  | "authorization_pending"
  | "expired_token"
  | "invalid_grant"
  | "invalid_request"
  | "invalid_scope"
  | "slow_down"
  | "unsupported_grant_type";

/** An error that OAuth clients recognize by `error`. Always has the status 400. */
export class OAuthError extends AppError<"bad_request"> {
  constructor(
    readonly error: OAuthErrorCode,
    message: string,
  ) {
    super("bad_request", message);
  }
}
