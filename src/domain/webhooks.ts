/** Webhooks: what is told, how often a delivery is tried, and when an endpoint is given up. */

/** Only terminal states are told. */
export const EVENT_TYPES = [
  "cut.completed",
  "cut.failed",
  "render.completed",
  "render.failed",
  "render.cancelled",
  "asset.ready",
  "asset.pending_payment",
  "asset.failed",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** What an event tells: always `entity_id` and `asset_id`. */
export type EventData = { entity_id: string; asset_id: string } & Record<string, string | null>;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Waits before the second and the later attempts, in milliseconds; the first is made at once. */
const WAITS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];

/** How long to wait after the nth failed attempt (from 1), in milliseconds; null when it was the last. */
export const waitAfter = (attempts: number): number | null => WAITS[attempts - 1] ?? null;

/** How long a receiver may take. */
export const DELIVERY_TIMEOUT_MS = 15 * SECOND;

/** How long the old secret signs on after a rotation. */
export const OLD_SECRET_MS = DAY;

const GIVE_UP_AFTER_MS = 5 * DAY;

/** What is known of an endpoint's luck. Times in milliseconds since 1970. */
export type EndpointRecord = { lastSuccessAt: number | null; failingSince: number | null };

/** What an attempt means for the endpoint: its record afterwards, and whether it is disabled. */
export function afterAttempt(
  record: EndpointRecord,
  attempt: { ok: boolean; gone: boolean },
  now: number,
): EndpointRecord & { disable: boolean } {
  if (attempt.ok) return { lastSuccessAt: now, failingSince: null, disable: false };
  const failingSince = record.failingSince ?? now;
  return { ...record, failingSince, disable: attempt.gone || now - failingSince >= GIVE_UP_AFTER_MS };
}
