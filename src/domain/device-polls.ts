/** Polls of a device that waits for its user (RFC 8628, section 3.5): the responses, and the growing interval. */
import type { DEVICE_CODE_STATES } from "./states";

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
