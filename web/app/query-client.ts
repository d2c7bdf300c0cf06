/**
 * The cache of the pages' data, and its triggers for reading again: live events, rejected changes, intervals, and a
 * server that is back. Data that events keep current stays for a while after its page is closed, and is shown
 * immediately when the page is opened again.
 */
import { effect } from "@preact/signals";
import { focusManager, onlineManager, type Query, QueryClient, type QueryKey } from "@tanstack/preact-query";
import { LIVE_EVENT_TYPES, type LiveEventType } from "../../src/domain/live-events";
import { ApiError, isFinal } from "./api";
import { connection } from "./connection";
import { listenLive } from "./live";
import { me, rejections } from "./session";

/**
 * The names of the data that events of each type change. A name is the first element of a key; the second one of
 * `entity` is the ID that the event has.
 */
const LIVE_KEYS: Partial<Record<LiveEventType, { entity?: string; names: readonly string[] }>> = {
  "project.updated": { entity: "project", names: ["projects"] },
  "asset.updated": { entity: "asset", names: ["assets", "projects", "workspace", "waiting-recordings"] },
  "cut.updated": { entity: "cut", names: ["cuts", "drafts", "assets", "projects"] },
  "review.updated": { names: ["assets", "projects"] },
  "render.updated": { entity: "render", names: ["renders", "workspace", "assets"] },
  "pipeline.updated": { entity: "pipeline", names: ["pipelines"] },
  "credits.updated": { names: ["credits", "workspace", "waiting-recordings"] },
  "notification.created": { names: ["notifications", "health", "export", "received-invitations"] },
};
const LIVE_TYPES = LIVE_EVENT_TYPES.filter((type) => type in LIVE_KEYS);
const LIVE_NAMES = new Set(Object.values(LIVE_KEYS).flatMap(({ entity, names }) => [entity, ...names]));

const KEPT_MS = 5 * 60_000;
/** Events within this time share one read. It is also the rest after the first read of a burst of events. */
const DELAY_MS = 250;
/** Maximum rest within a burst. Each rest is twice as long as the previous one. */
const MAX_REST_MS = 2_000;
/**
 * Longer lists are read again less often after events, and never at an interval: that would burden the server and move
 * rows.
 */
const MANY_ROWS = 300;
/** After a read of many rows, or of projects, whose totals change with each of their recordings. */
const COSTLY_DELAY_MS = 5_000;

export const client = new QueryClient({
  defaultOptions: {
    // A read without a response fails immediately: `connection` watches the server.
    queries: { networkMode: "always", retry: false, refetchOnReconnect: false, refetchOnWindowFocus: false },
  },
});

/** Connects the cache with the session, the connection and live events. Call it once. */
export function startCache(): void {
  client.mount();
  let userId: string | undefined;
  effect(() => {
    if (me.value?.id !== userId) client.clear();
    userId = me.value?.id;
  });
  rejections.subscribe((count) => {
    // Data whose read has failed is not read again.
    if (count > 0) readShown((query) => query.state.data !== undefined && query.isStale());
  });
  onlineManager.setEventListener((setOnline) => effect(() => setOnline(connection.value === "online")));
  // Never stopped: the cache follows the focus as long as the page is open.
  focusManager.setEventListener((onFocus) => {
    document.addEventListener("visibilitychange", () => onFocus(!document.hidden));
    addEventListener("focus", () => onFocus());
    return () => {};
  });
  listenLive(LIVE_TYPES, ({ type, entityId }) => {
    for (const one of type === "reset" ? LIVE_TYPES : [type]) {
      const { entity, names } = LIVE_KEYS[one]!;
      if (entity !== undefined) invalidate(entityId === null ? [entity] : [entity, entityId]);
      for (const name of names) invalidate([name]);
    }
  });
}

/** Reads everything again whose key starts with `key` and that is shown, and drops the rest of it. */
export function invalidate(key: QueryKey): void {
  const cache = client.getQueryCache();
  for (const query of cache.findAll({ queryKey: key }))
    if (query.getObserversCount() > 0) requestRead(query);
    else cache.remove(query);
}

/** Reads the shown data again that fulfills a condition. */
function readShown(isWanted: (query: Query) => unknown): void {
  for (const query of client.getQueryCache().getAll())
    if (query.getObserversCount() > 0 && isWanted(query)) requestRead(query);
}

/** The IDs of resources that this tab deletes or has deleted. They are not read again. They are never reused. */
const deleted = new Set<unknown>();

const isGone = ({ queryKey }: Query): boolean => queryKey.some((part) => deleted.has(part));

/** Runs the request that deletes a resource: the live event of a deletion may arrive before its response. */
export async function runDeletion(id: string, request: Promise<unknown>): Promise<void> {
  deleted.add(id);
  try {
    await request;
  } catch (error) {
    deleted.delete(id);
    // Events of other changes have been ignored in the meantime.
    readShown(({ queryKey }) => queryKey.includes(id));
    throw error;
  }
}

/** Queries that wait for their next read, or rest. True: an event has arrived since the read began. */
const waiting = new WeakMap<Query, boolean>();

/** Reads a query soon. Reads do not overlap, so that a burst of events cannot starve them. */
function requestRead(query: Query, restMs = DELAY_MS): void {
  if (waiting.has(query)) return void waiting.set(query, true);
  waiting.set(query, false);
  setTimeout(() => void readAgain(query, restMs), DELAY_MS);
}

async function readAgain(query: Query, restMs: number): Promise<void> {
  waiting.set(query, false);
  if (query.state.fetchStatus !== "idle") await query.promise?.catch(() => {});
  if (query.getObserversCount() > 0 && !isGone(query))
    await client.refetchQueries({ queryKey: query.queryKey, exact: true });
  await new Promise((resolve) => setTimeout(resolve, isCostly(query) ? COSTLY_DELAY_MS : restMs));
  const isWanted = waiting.get(query);
  waiting.delete(query);
  if (isWanted) requestRead(query, Math.min(2 * restMs, MAX_REST_MS));
}

const isCostly = (query: Query): boolean => query.queryKey[0] === "projects" || countRows(query) > MANY_ROWS;

const countRows = (query: Query): number => (query.state.data as { items?: unknown[] } | undefined)?.items?.length ?? 0;

export type ReadOptions<Data> = {
  /**
   * Interval at which shown data without live events is read; it is also read when the page gets the focus, or the
   * server is back. A function receives the last data.
   */
  refreshMs?: number | ((data: Data) => number | undefined);
  /** Returns the interval until something has been read. It is not called if the call would fail again. */
  retryMs?: (error: unknown, failures: number) => number | false;
  /** Time for which the value is used: `forever` while it is shown, `visit` never on the next visit of a page. */
  lasts?: "forever" | "visit";
};

export const isOffline = (error: unknown): boolean => error instanceof ApiError && error.code === "offline";

/** A read that was refused is not repeated on its own: the server may ask for the password again. */
const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

/**
 * Returns when a query is read again by itself, and how long it is kept. `isMerged`: a read of a long list is short.
 */
export function toQueryOptions<Data>(key: QueryKey, options: ReadOptions<Data>, isMerged = false) {
  const { refreshMs, retryMs, lasts } = options;
  const getRefreshMs = (query: Query): number | false => {
    const { data, error, errorUpdateCount } = query.state;
    const isHeld =
      connection.peek() !== "online" ||
      isRefused(error) ||
      isGone(query) ||
      (!isMerged && countRows(query) >= MANY_ROWS);
    if (isHeld) return false;
    if (typeof refreshMs === "number") return refreshMs;
    if (data === undefined) return (error !== null && !isFinal(error) && retryMs?.(error, errorUpdateCount)) ?? false;
    return refreshMs?.(data as Data) ?? false;
  };
  const canRefresh = (query: unknown): boolean => getRefreshMs(query as Query) !== false;
  return {
    queryKey: key,
    gcTime: LIVE_NAMES.has(String(key[0])) && lasts === undefined ? KEPT_MS : 0,
    staleTime: lasts === "forever" ? Number.POSITIVE_INFINITY : 0,
    refetchInterval: (query: unknown) => getRefreshMs(query as Query),
    // A read that failed offline is repeated: without an interval or live events, nothing else would repeat it.
    refetchOnReconnect: (query: unknown) =>
      canRefresh(query) || (isOffline((query as Query).state.error) && !isGone(query as Query)),
    refetchOnWindowFocus: canRefresh,
  };
}
