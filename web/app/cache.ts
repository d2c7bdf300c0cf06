/**
 * The cache of what pages read. A page declares what it shows with `useRead` and `useList`; live events read again what is shown. What events
 * keep current stays for a while after its page is closed, and is shown at once when the page is opened again.
 */
import { effect, type Signal, signal } from "@preact/signals";
import {
  focusManager,
  type InfiniteData,
  InfiniteQueryObserver,
  type InfiniteQueryObserverOptions,
  onlineManager,
  type Query,
  QueryClient,
  type QueryKey,
  QueryObserver,
  type QueryObserverOptions,
} from "@tanstack/preact-query";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { ApiError, toMessage } from "./api";
import { connection } from "./connection";
import { isDeleted } from "./deletions";
import { listenLive } from "./live";
import type { Page, PagedList } from "./pages-of";
import type { Loaded, Resource } from "./resource";
import { me } from "./session";

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

const client = new QueryClient({
  defaultOptions: {
    // A read without an answer fails at once: `connection` watches the server.
    queries: { networkMode: "always", retry: false, refetchOnReconnect: false, refetchOnWindowFocus: false },
  },
});

/** Connects the cache with the session, the connection and live events. Call it once. */
export function startCache(): void {
  let userId: string | undefined;
  effect(() => {
    if (me.value?.id !== userId) client.clear();
    userId = me.value?.id;
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

const countRows = (query: Query): number =>
  (query.state.data as InfiniteData<Page<unknown>> | undefined)?.pages?.reduce(
    (sum, { items }) => sum + items.length,
    0,
  ) ?? 0;

type ReadOptions = {
  /** The interval at which what has no live events is read while it is shown; also when the page gets the focus, or the server is back. */
  refreshMs?: number;
};

/** A read that was refused is not repeated on its own: the server may ask for the password again. */
const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

function toQueryOptions(key: QueryKey, { refreshMs }: ReadOptions) {
  const canRefresh = (query: Query): boolean =>
    refreshMs !== undefined &&
    connection.peek() === "online" &&
    !isRefused(query.state.error) &&
    countRows(query) < MANY_ROWS;
  return {
    queryKey: key,
    gcTime: LIVE_NAMES.has(String(key[0])) ? KEPT_MS : 0,
    refetchInterval: (query: unknown) => (canRefresh(query as Query) ? refreshMs! : false) as number | false,
    refetchOnReconnect: (query: unknown) => canRefresh(query as Query),
    refetchOnWindowFocus: (query: unknown) => canRefresh(query as Query),
  };
}

/**
 * Reads with `load` while the component is mounted. `key` names what is read, with everything that `load` depends on; a second component with
 * the same key shares the read.
 */
export function useRead<T>(
  key: QueryKey,
  load: (signal: AbortSignal) => Promise<T>,
  options: ReadOptions = {},
): Resource<T> {
  const { resource, start, change } = useMemo(() => createRead(key, load, options), [JSON.stringify(key)]);
  useLayoutEffect(start, [start]);
  useLayoutEffect(() => change(options), [change, options.refreshMs]);
  return resource;
}

function createRead<T>(key: QueryKey, load: (signal: AbortSignal) => Promise<T>, options: ReadOptions) {
  const toOptions = (changed: ReadOptions): QueryObserverOptions<T> => ({
    ...toQueryOptions(key, changed),
    queryFn: ({ signal: stopping }) => load(stopping),
  });
  const observer = new QueryObserver<T>(client, toOptions(options));
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
  return {
    resource: { state, reload },
    start,
    change: (changed: ReadOptions) => observer.setOptions(toOptions(changed)),
  };
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

type ReadPage<Item, Of extends Page<Item>> = (cursor: string | null, signal: AbortSignal) => Promise<Of>;
type List<Item, Of> = PagedList<Item> & {
  /** The page that was read first; null until it has been read. */
  first: Signal<Of | null>;
};

/** Like `useRead`, for a list that is read page by page. `items` is null until the first page has been read. */
export function useList<Item, Of extends Page<Item> = Page<Item>>(
  key: QueryKey,
  read: ReadPage<Item, Of>,
  options: ReadOptions = {},
): List<Item, Of> {
  const { list, start, change } = useMemo(() => createList(key, read, options), [JSON.stringify(key)]);
  useLayoutEffect(start, [start]);
  useLayoutEffect(() => change(options), [change, options.refreshMs]);
  return list;
}

/** Creates a list, which reads while it has been started. */
export function createList<Item, Of extends Page<Item>>(
  key: QueryKey,
  read: ReadPage<Item, Of>,
  options: ReadOptions = {},
) {
  type Options = InfiniteQueryObserverOptions<Of, Error, InfiniteData<Of>, QueryKey, string | null>;
  const toOptions = (changed: ReadOptions): Options => ({
    ...toQueryOptions(key, changed),
    queryFn: ({ pageParam, signal: stopping }) => read(pageParam, stopping),
    initialPageParam: null,
    getNextPageParam: ({ next_cursor: next }) => next,
    structuralSharing: false,
  });
  const observer = new InfiniteQueryObserver(client, toOptions(options));
  const items = signal<Item[] | null>(null);
  const error = signal<string | null>(null);
  const hasMore = signal(true);
  const first = signal<Of | null>(null);
  let shown: InfiniteData<Of> | undefined;
  /** Whether the end of the list was reached during a read. */
  let isMoreWanted = false;
  type ListResult = Pick<ReturnType<typeof observer.getCurrentResult>, "data" | "error" | "isFetching">;
  const show = ({ data, error: failure, isFetching }: ListResult): void => {
    if (data !== shown && data !== undefined) {
      items.value = keepUnchanged(items.peek() ?? [], flatten(data.pages));
      first.value = data.pages[0] ?? null;
      hasMore.value = data.pages.at(-1)?.next_cursor !== null;
      shown = data;
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
      const { isFetching, isFetchingNextPage } = observer.getCurrentResult();
      if (isFetching) isMoreWanted ||= !isFetchingNextPage;
      else if (hasMore.peek()) void observer.fetchNextPage();
      // All pages are loaded, so it was the reload that failed.
      else if (error.peek() !== null) void list.reload();
    },
    reload: async () => {
      // The next page is read after the reload.
      isMoreWanted ||= observer.getCurrentResult().isFetchingNextPage;
      await observer.refetch();
    },
    change: (update) =>
      void client.setQueryData<InfiniteData<Of>>(
        key,
        (data) =>
          data && {
            ...data,
            pages: data.pages.map((page, n) => ({ ...page, items: n === 0 ? update(flatten(data.pages)) : [] })),
          },
      ),
  };
  show(observer.getCurrentResult());
  const change = (changed: ReadOptions) => observer.setOptions(toOptions(changed));
  const start = () => {
    const stop = observer.subscribe(show);
    show(observer.getCurrentResult());
    return stop;
  };
  return { list, start, change };
}

const getId = (item: unknown): unknown => (item as { id?: unknown }).id ?? item;

/** Returns each row once: rows that were added meanwhile move others to later pages. */
function flatten<Item>(pages: Page<Item>[]): Item[] {
  const rows = new Map<unknown, Item>();
  for (const { items } of pages) for (const item of items) if (!rows.has(getId(item))) rows.set(getId(item), item);
  return [...rows.values()];
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
type Counted<Item> = Page<Item> & { total: number };

/** Like `useList`, for lists that the API pages by offset. `first` has the number of all rows. */
export const useOffsetList = <Item>(
  key: QueryKey,
  read: (page: { limit: number; offset: number }, signal: AbortSignal) => Promise<OffsetPage<Item>>,
  options: ReadOptions & { limit?: number } = {},
): List<Item, Counted<Item>> =>
  useList<Item, Counted<Item>>(
    key,
    async (cursor, stopping) => {
      const page = await read({ limit: options.limit ?? 100, offset: Number(cursor ?? 0) }, stopping);
      const end = page.offset + page.items.length;
      const hasMore = page.items.length > 0 && end < page.total;
      return { items: page.items, total: page.total, next_cursor: hasMore ? String(end) : null };
    },
    options,
  );
