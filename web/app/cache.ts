/** What pages read, kept in one cache: a page declares what it shows with `useRead`, `useList` or `useOffsetList`. */
import { type Signal, signal } from "@preact/signals";
import { type QueryKey, QueryObserver } from "@tanstack/preact-query";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { ApiError, toMessage } from "./api";
import { append, keepUnchanged } from "./page-rows";
import type { Page, PagedList } from "./pages-of";
import { client, type ReadOptions, toQueryOptions } from "./query-client";
import type { Loaded, Resource } from "./resource";

const PAGE_SIZE = 100;

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
