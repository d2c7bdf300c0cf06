/**
 * The cache of what pages read. A page declares what it shows with `useRead` and `useList`; live events read again what is shown. What events
 * keep current stays for a while after its page is closed, and is shown at once when the page is opened again.
 */
import { effect, type Signal, signal } from "@preact/signals";
import {
  focusManager,
  onlineManager,
  type Query,
  QueryClient,
  type QueryKey,
  QueryObserver,
} from "@tanstack/preact-query";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { ApiError, toMessage } from "./api";
import { connection } from "./connection";
import { isDeleted } from "./deletions";
import { listenLive } from "./live";
import type { Page, PagedList } from "./pages-of";
import type { Loaded, Resource } from "./resource";
import { me, rejections } from "./session";

/**
 * The names of what an event of a type changes. A name is the first element of a key; the second one of `entity` is the ID that the
 * event has.
 */
const LIVE_KEYS: Record<string, { entity?: string; names: readonly string[] }> = {
  "project.updated": { entity: "project", names: ["projects"] },
  "asset.updated": { entity: "asset", names: ["assets", "workspace", "waiting-recordings"] },
  "cut.updated": { entity: "cut", names: ["cuts", "drafts"] },
  "render.updated": { entity: "render", names: ["renders", "workspace"] },
  "pipeline.updated": { entity: "pipeline", names: ["pipelines"] },
  "credits.updated": { names: ["credits", "workspace", "waiting-recordings"] },
  "notification.created": { names: ["notifications", "health", "export", "received-invitations"] },
};
const LIVE_TYPES = Object.keys(LIVE_KEYS);
const LIVE_NAMES = new Set(Object.values(LIVE_KEYS).flatMap(({ entity, names }) => [entity, ...names]));

const KEPT_MS = 5 * 60_000;
/** Events within this time share one read. */
const DELAY_MS = 250;
/** Longer lists are read again less often after events, and never at an interval: that would burden the server and move rows. */
const MANY_ROWS = 300;
const MANY_ROWS_DELAY_MS = 5_000;

const PAGE_SIZE = 100;

const client = new QueryClient({
  defaultOptions: {
    // A read without an answer fails at once: `connection` watches the server.
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
    if (count > 0) readShown();
  });
  onlineManager.setEventListener((setOnline) => effect(() => setOnline(connection.value === "online")));
  focusManager.setEventListener((onFocus) => {
    const listener = () => onFocus(!document.hidden);
    const focused = () => onFocus();
    document.addEventListener("visibilitychange", listener);
    addEventListener("focus", focused);
    return () => {
      document.removeEventListener("visibilitychange", listener);
      removeEventListener("focus", focused);
    };
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
  for (const query of client.getQueryCache().findAll({ queryKey: key }))
    if (query.getObserversCount() > 0) requestRead(query);
    else client.removeQueries({ queryKey: query.queryKey, exact: true });
}

/** Reads everything again that is shown, except what could not be read. */
function readShown(): void {
  for (const query of client.getQueryCache().getAll())
    if (query.getObserversCount() > 0 && query.state.data !== undefined) requestRead(query);
}

/** Queries that wait for their next read. True: an event has arrived while they were being read. */
const waiting = new WeakMap<Query, boolean>();

/** Reads a query soon. Reads do not overlap, so that a burst of events cannot starve them. */
function requestRead(query: Query): void {
  if (waiting.has(query)) return void waiting.set(query, true);
  waiting.set(query, false);
  setTimeout(() => void readAgain(query), DELAY_MS);
}

async function readAgain(query: Query): Promise<void> {
  waiting.set(query, false);
  if (query.state.fetchStatus !== "idle") await query.promise?.catch(() => {});
  // The event of a deletion may arrive before its response.
  if (query.getObserversCount() > 0 && !query.queryKey.some(isDeleted))
    await client.refetchQueries({ queryKey: query.queryKey, exact: true });
  if (countRows(query) > MANY_ROWS) await new Promise((resolve) => setTimeout(resolve, MANY_ROWS_DELAY_MS));
  const isWanted = waiting.get(query);
  waiting.delete(query);
  if (isWanted) requestRead(query);
}

const countRows = (query: Query): number => (query.state.data as { items?: unknown[] } | undefined)?.items?.length ?? 0;

type ReadOptions<Data> = {
  /**
   * The interval at which what has no live events is read while it is shown; also when the page gets the focus, or the server is back. A
   * function gets what was read last.
   */
  refreshMs?: number | ((data: Data) => number | undefined);
};

/** A read that was refused is not repeated on its own: the server may ask for the password again. */
const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

function toQueryOptions<Data>(key: QueryKey, { refreshMs }: ReadOptions<Data>, isMerged = false) {
  const getRefreshMs = (query: Query): number | false => {
    const isHeld =
      connection.peek() !== "online" || isRefused(query.state.error) || (!isMerged && countRows(query) >= MANY_ROWS);
    if (isHeld || refreshMs === undefined) return false;
    if (typeof refreshMs === "number") return refreshMs;
    const { data } = query.state;
    return (data !== undefined && refreshMs(data as Data)) || false;
  };
  const canRefresh = (query: unknown): boolean => getRefreshMs(query as Query) !== false;
  return {
    queryKey: key,
    gcTime: LIVE_NAMES.has(String(key[0])) ? KEPT_MS : 0,
    refetchInterval: (query: unknown) => getRefreshMs(query as Query),
    refetchOnReconnect: canRefresh,
    refetchOnWindowFocus: canRefresh,
  };
}

/**
 * Reads with `load` while the component is mounted. `key` names what is read, with everything that `load` depends on; a second component with
 * the same key shares the read.
 */
export function useRead<T>(
  key: QueryKey,
  load: (signal: AbortSignal) => Promise<T>,
  options: ReadOptions<T> = {},
): Resource<T> {
  const { resource, start } = useMemo(() => createRead(key, load, options), [JSON.stringify(key)]);
  useLayoutEffect(start, [start]);
  return resource;
}

function createRead<T>(key: QueryKey, load: (signal: AbortSignal) => Promise<T>, options: ReadOptions<T>) {
  const observer = new QueryObserver<T>(client, {
    ...toQueryOptions(key, options),
    queryFn: ({ signal: stopping }) => load(stopping),
  });
  const state = signal<Loaded<T>>(toLoaded(observer.getCurrentResult(), { kind: "loading" }));
  const show = (result: Result<T>): void => {
    state.value = toLoaded(result, state.peek());
  };
  const start = () => {
    const stop = observer.subscribe(show);
    show(observer.getCurrentResult());
    return stop;
  };
  const reload = async () => void (await observer.refetch());
  return { resource: { state, reload }, start };
}

type Result<T> = { data: T | undefined; error: unknown };

/** While the server does not respond, the current value stays, and the shell shows a notice. */
function toLoaded<T>({ data, error }: Result<T>, before: Loaded<T>): Loaded<T> {
  const isOffline = error instanceof ApiError && error.code === "offline";
  if (data !== undefined && (error === null || isOffline))
    return before.kind === "ready" && before.value === data ? before : { kind: "ready", value: data };
  if (error !== null) return { kind: "failed", message: toMessage(error), error };
  // A failure is shown until there is an answer.
  return before;
}

/** Like `useRead`, outside of components. Calls `onValue` with what has been read. Returns a function that stops it. */
export function followRead<T>(
  key: QueryKey,
  load: (signal: AbortSignal) => Promise<T>,
  onValue: (value: T) => void,
): () => void {
  const { resource, start } = createRead(key, load, {});
  const stop = start();
  const stopShowing = resource.state.subscribe((state) => {
    if (state.kind === "ready") onValue(state.value);
  });
  return () => {
    stopShowing();
    stop();
  };
}

type ReadPage<Of> = (cursor: string | null, signal: AbortSignal) => Promise<Of>;

/** The pages of a list that have been read. */
type Rows<Item, Of> = { items: Item[]; first: Of; cursor: string | null; pages: number };

export type List<Item, Of = Page<Item>> = PagedList<Item> & {
  /** The first page, as it was read last; null until then. */
  first: Signal<Of | null>;
};

type ListOptions<Item, Of> = ReadOptions<Rows<Item, Of>> & {
  /** Merges the first page, read again, into the rows of a list with the newest rows first. Returns null if that is not possible. */
  merge?: (rows: Item[], fresh: Of) => Item[] | null;
};

/** Like `useRead`, for a list that is read page by page. `items` is null until the first page has been read. */
export function useList<Item, Of extends Page<Item> = Page<Item>>(
  key: QueryKey,
  read: ReadPage<Of>,
  options: ListOptions<Item, Of> = {},
): List<Item, Of> {
  const { list, start } = useMemo(() => createList<Item, Of>(key, read, options), [JSON.stringify(key)]);
  useLayoutEffect(start, [start]);
  return list;
}

/** Creates a list, which reads while it has been started. */
export function createList<Item, Of extends Page<Item> = Page<Item>>(
  key: QueryKey,
  read: ReadPage<Of>,
  options: ListOptions<Item, Of> = {},
) {
  /** Whether the next read is that of the next page. */
  let isNext = false;
  let isReadingNext = false;
  /** Whether the end of the list was reached during a read. */
  let isMoreWanted = false;

  async function readPages(stopping: AbortSignal): Promise<Rows<Item, Of>> {
    const before = client.getQueryData<Rows<Item, Of>>(key);
    isReadingNext = isNext && before !== undefined && before.cursor !== null;
    isNext = false;
    if (before !== undefined && isReadingNext) {
      const page = await read(before.cursor, stopping);
      return {
        ...before,
        items: append(before.items, page.items),
        cursor: page.next_cursor,
        pages: before.pages + 1,
      };
    }
    const first = await read(null, stopping);
    const known = before?.items ?? [];
    const merged = before && before.pages > 1 ? (options.merge?.(known, first) ?? null) : null;
    if (before !== undefined && merged !== null) return { ...before, items: merged, first };
    let items = append([], first.items);
    let { next_cursor: cursor }: Page<Item> = first;
    for (let page = 1; page < (before?.pages ?? 1) && cursor !== null; page++) {
      const found: Of = await read(cursor, stopping);
      items = append(items, found.items);
      cursor = found.next_cursor;
    }
    return { items: keepUnchanged(known, items), first, cursor, pages: before?.pages ?? 1 };
  }

  const observer = new QueryObserver<Rows<Item, Of>>(client, {
    ...toQueryOptions(key, options, options.merge !== undefined),
    queryFn: ({ signal: stopping }) => readPages(stopping),
    structuralSharing: false,
  });
  const items = signal<Item[] | null>(null);
  const error = signal<string | null>(null);
  const hasMore = signal(true);
  const first = signal<Of | null>(null);
  const show = ({ data, error: failure, isFetching }: Result<Rows<Item, Of>> & { isFetching: boolean }): void => {
    if (data !== undefined) {
      items.value = data.items;
      first.value = data.first;
      hasMore.value = data.cursor !== null;
    }
    error.value = failure === null ? null : toMessage(failure);
    if (isFetching || !isMoreWanted) return;
    isMoreWanted = false;
    if (failure === null) list.loadMore();
  };
  const list: List<Item, Of> = {
    items,
    error,
    hasMore,
    first,
    loadMore: () => {
      if (observer.getCurrentResult().isFetching) {
        isMoreWanted ||= !isReadingNext;
        return;
      }
      // If all pages are loaded, it was the reload that failed.
      if (!hasMore.peek() && error.peek() === null) return;
      isNext = true;
      void observer.refetch();
    },
    reload: async () => {
      // The next page is read after the reload.
      isMoreWanted ||= observer.getCurrentResult().isFetching && isReadingNext;
      isNext = false;
      await observer.refetch();
    },
    change: (update) =>
      void client.setQueryData<Rows<Item, Of>>(key, (data) => data && { ...data, items: update(data.items) }),
  };
  show(observer.getCurrentResult());
  const start = () => {
    const stop = observer.subscribe(show);
    show(observer.getCurrentResult());
    return stop;
  };
  return { list, start };
}

type Identified = { id?: string; user_id?: string; workspace?: { id: string } };

/** Returns what tells a row from others: members and the storage of workspaces have no ID of their own. */
const getId = (item: unknown): unknown => {
  const { id, user_id: userId, workspace } = item as Identified;
  return id ?? userId ?? workspace?.id ?? item;
};

/** Appends the rows that the list does not have yet: rows that were added meanwhile move others to later pages. */
function append<Item>(items: Item[], page: Item[]): Item[] {
  const known = new Set(items.map(getId));
  return [...items, ...page.filter((item) => !known.has(getId(item)))];
}

/** Returns the fresh rows, with the previous object of each unchanged row, so that only changed rows are rendered again. */
function keepUnchanged<Item>(before: Item[], fresh: Item[]): Item[] {
  const known = new Map(before.map((item) => [getId(item), item]));
  return fresh.map((item) => {
    const old = known.get(getId(item));
    return old !== undefined && JSON.stringify(old) === JSON.stringify(item) ? old : item;
  });
}

type OffsetPage<Item> = { items: Item[]; total: number; limit: number; offset: number };

/** Like `useList`, for lists that the API pages by offset. `first` has the number of all rows. */
export const useOffsetList = <Item, Of extends OffsetPage<Item> = OffsetPage<Item>>(
  key: QueryKey,
  read: (page: { limit: number; offset: number }, signal: AbortSignal) => Promise<Of>,
  options: ListOptions<Item, Of & Page<Item>> = {},
): List<Item, Of & Page<Item>> =>
  useList<Item, Of & Page<Item>>(
    key,
    async (cursor, stopping) => {
      const page = await read({ limit: PAGE_SIZE, offset: Number(cursor ?? 0) }, stopping);
      const end = page.offset + page.items.length;
      return { ...page, next_cursor: page.items.length > 0 && end < page.total ? String(end) : null };
    },
    options,
  );
