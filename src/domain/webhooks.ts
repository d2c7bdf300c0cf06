/** Webhooks: the events and their payloads, the retry schedule of deliveries, and when an endpoint is disabled. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time";

export type CutEventData = { entity_id: string; asset_id: string };

export type RenderEventData = { entity_id: string; asset_id: string; cut_id: string | null };

/** The data of an asset's event. `previous_state` is the state announced before; null for the first event. */
export type AssetEventData = {
  entity_id: string;
  asset_id: string;
  project_id: string | null;
  external_id: string | null;
  previous_state: string | null;
};

/** Every event type, in the order of the API documentation. Only terminal states are announced. */
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

/** The payload of each event, by its entity. */
export type EventPayloads = {
  [Type in EventType]: Type extends `cut.${string}`
    ? CutEventData
    : Type extends `render.${string}`
      ? RenderEventData
      : AssetEventData;
};

/** Delays before the second and later attempts. The first is immediate. */
const DELIVERY_DELAYS_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS];
/** Number of attempts after which a delivery has failed. */
export const MAX_ATTEMPTS = DELIVERY_DELAYS_MS.length + 1;

/** Returns the delay in milliseconds after the nth failed attempt (from 1); null after the last one. */
export const findDeliveryDelayMs = (attempts: number): number | null => DELIVERY_DELAYS_MS[attempts - 1] ?? null;

export const DELIVERY_TIMEOUT_MS = 15_000;

/** Time for which deliveries are also signed with the old secret after a rotation. */
export const OLD_SECRET_VALIDITY_MS = DAY_MS;

export const MAX_FAILING_MS = 5 * DAY_MS;

/** The delivery record of an endpoint. Times are in milliseconds since 1970. */
export type EndpointHealth = { lastSuccessAt: number | null; failingSince: number | null };

/** Returns an endpoint's health after an attempt, and whether to disable it. `isGone`: it responded with 410 Gone. */
export function updateEndpointHealth(
  record: EndpointHealth,
  attempt: { ok: boolean; isGone: boolean },
  now: number,
): EndpointHealth & { disable: boolean } {
  if (attempt.ok) return { lastSuccessAt: now, failingSince: null, disable: false };
  const failingSince = record.failingSince ?? now;
  return { ...record, failingSince, disable: attempt.isGone || now - failingSince >= MAX_FAILING_MS };
}
