/** Loads the deliveries of an endpoint and keeps them current. */
import { ApiError, api, must } from "../../app/api";
import { type PagedList, usePagedList } from "../../app/pages-of";
import { useRefresh } from "../../app/use-refresh";
import { mergeNewest } from "./merge-newest";
import type { Delivery, Endpoint } from "./webhook-texts";

export type DeliveryFilter = Delivery["state"] | "all";

const PAGE_SIZE = 100;
/** Intervals while an attempt is running or due, and otherwise. */
const BUSY_REFRESH_MS = 1_500;
const REFRESH_MS = 8_000;
/** An attempt takes at most 15 s. */
const SOON_MS = 20_000;

export type Deliveries = {
  list: PagedList<Delivery>;
  /** Reloads the newest deliveries. */
  refresh(): Promise<void>;
};

/** Loads the deliveries and polls for new ones. `onRefresh` is called with each poll. */
export function useDeliveries(endpoint: Endpoint, filter: DeliveryFilter, onRefresh: () => void): Deliveries {
  const read = (cursor: string | null, signal?: AbortSignal) => {
    const query = { limit: PAGE_SIZE, cursor: cursor ?? undefined, state: filter === "all" ? undefined : filter };
    const params = { path: { endpoint_id: endpoint.id }, query };
    return must(api.GET("/api/v1/webhook-endpoints/{endpoint_id}/deliveries", { params, signal }));
  };
  const list = usePagedList<Delivery>(read, [endpoint.id, filter]);
  const refresh = async () => {
    const shown = list.items.value;
    if (shown === null) return;
    try {
      const fresh = await read(null);
      const merged = mergeNewest(list.items.value ?? [], fresh);
      if (merged === null) await list.reload();
      else list.change(() => merged);
    } catch (error) {
      // The current value stays until the next poll.
      if (!(error instanceof ApiError)) throw error;
    }
  };
  const isBusy = endpoint.state === "enabled" && (list.items.value ?? []).some(isDueSoon);
  useRefresh(
    () => {
      void refresh();
      onRefresh();
    },
    isBusy ? BUSY_REFRESH_MS : REFRESH_MS,
  );
  return { list, refresh };
}

const isDueSoon = ({ state, next_attempt_at: at }: Delivery): boolean =>
  state === "pending" && (at === null || Date.parse(at) - Date.now() < SOON_MS);
