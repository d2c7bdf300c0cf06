/** Loads the deliveries of an endpoint and keeps them current. */
import { useRef } from "preact/hooks";
import { api, must } from "../../app/api";
import { type List, useList } from "../../app/cache";
import { mergeNewest } from "../../app/merge-newest";
import type { Delivery, Endpoint } from "./webhook-texts";

export type DeliveryFilter = Delivery["state"] | "all";

const PAGE_SIZE = 100;
/** Intervals while an attempt is running or due, and otherwise. */
const BUSY_MS = 1_500;
export const IDLE_MS = 8_000;
/** An attempt takes at most 15 s. */
const SOON_MS = 20_000;

/** Reads the deliveries, newest first. */
export function useDeliveries({ id, state }: Endpoint, filter: DeliveryFilter): List<Delivery> {
  const isEnabled = useRef(false);
  isEnabled.current = state === "enabled";
  return useList<Delivery>(
    ["deliveries", id, filter],
    (cursor, signal) => {
      const query = { limit: PAGE_SIZE, cursor: cursor ?? undefined, state: filter === "all" ? undefined : filter };
      const params = { path: { endpoint_id: id }, query };
      return must(api.GET("/api/v1/webhook-endpoints/{endpoint_id}/deliveries", { params, signal }));
    },
    {
      merge: mergeNewest,
      refreshMs: ({ items }) => (isEnabled.current && items.some(isDueSoon) ? BUSY_MS : IDLE_MS),
    },
  );
}

const isDueSoon = ({ state, next_attempt_at: at }: Delivery): boolean =>
  state === "pending" && (at === null || Date.parse(at) - Date.now() < SOON_MS);
