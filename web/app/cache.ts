/**
 * Caches the data of all pages. A page declares the data that it shows with `useRead`, `useList` or `useOffsetList`.
 */
import { type Signal, signal } from "@preact/signals";
import { type QueryKey, QueryObserver } from "@tanstack/preact-query";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { toMessage } from "./api";
import { client, isOffline, type ReadOptions, toQueryOptions } from "./query-client";

const PAGE_SIZE = 100;

/** `loading` applies only before the first response: a later read keeps the current value. */
export type Loaded<T> =
  | { kind: "loading" }
  | { kind: "ready"; value: T }
  | { kind: "failed"; message: string; error: unknown };

export type Resource<T> = {
  state: Signal<Loaded<T>>;
  reload(): Promise<void>;
  /** Changes the value until the next read. */
  change(update: (value: T) => T): void;
};

/**
 * Reads with `load` while the component is mounted. `key` names the data and includes everything on which `load`
 * depends; components with the same key share one read. With the key null, nothing is read yet.
 */
export function useRead<T>(
  key: QueryKey | null,
  load: (signal: AbortSignal) => Promise<T>,
  options: ReadOptions<T> = {},
): Resource<T> {
  const { resource, start } = useMemo(() => createRead(key, load, options), [JSON.stringify(key)]);
  useLayoutEffect(start, [start]);
  return resource;
}

function createRead<T>(key: QueryKey | null, load: (signal: AbortSignal) => Promise<T>, options: ReadOptions<T>) {
  const observer = new QueryObserver<T>(client, {
    ...toQueryOptions(key ?? ["nothing"], options),
    queryFn: ({ signal: stopping }) => load(stopping),
    enabled: key !== null,
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
  const reload = async () => void (key !== null && (await observer.refetch()));
  const change = (update: (value: T) => T) =>
    void (key !== null && client.setQueryData<T>(key, (value) => value && update(value)));
  return { resource: { state, reload, change }, start };
}

type Result<T> = { data: T | undefined; error: unknown };

/** While the server does not respond, the current value stays, and the shell shows a notice. */
function toLoaded<T>({ data, error }: Result<T>, before: Loaded<T>): Loaded<T> {
  if (data !== undefined && (error === null || isOffline(error)))
    return before.kind === "ready" && before.value === data ? before : { kind: "ready", value: data };
  if (error !== null) return { kind: "failed", message: toMessage(error), error };
  // A failure is shown until a read succeeds.
  return before;
}

/**
 * Returns a loaded value of this key even when a later read fails, and the previous value while another key is loading:
 * an editor must not disappear when the network does. A failure is returned only if nothing was loaded for the key.
 */
export function useKept<T>(state: Loaded<T>, key: string | null): Loaded<T> {
  const kept = useRef<{ key: string | null; state: Loaded<T> }>({ key, state });
  const isNews = state.kind === "ready" || kept.current.state.kind !== "ready";
  if (isNews || (state.kind === "failed" && kept.current.key !== key)) kept.current = { key, state };
  return kept.current.state;
}

/**
 * Like `useRead`, outside of components. Calls `onValue` with the data that has been read. Returns a function that
 * stops it.
 */
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

export type Page<Item> = { items: Item[]; next_cursor: string | null };

/** A list that is read page by page as the user scrolls. */
export type PagedList<Item> = {
  items: Signal<Item[] | null>;
  /** The failure of the last read; null without one. */
  error: Signal<unknown>;
  hasMore: Signal<boolean>;
  loadMore(): void;
  /** Reloads the pages that are shown, starting with the first. */
  reload(): Promise<void>;
  /** Changes the shown items until the next read. */
  change(update: (items: Item[]) => Item[]): void;
};

type ReadPage<Of> = (cursor: string | null, signal: AbortSignal) => Promise<Of>;

/** The pages of a list that have been read. */
type Rows<Item, Of> = { items: Item[]; first: Of; cursor: string | null; pages: number };

export type List<Item, Of = Page<Item>> = Omit<PagedList<Item>, "change"> & {
  /** The first page, as it was read last; null until then. */
  first: Signal<Of | null>;
  /** Changes the shown items until the next read. `cursor`: the position after the changed items. */
  change(update: (items: Item[]) => Item[], cursor?: string | null): void;
};

type ListOptions<Item, Of> = ReadOptions<Rows<Item, Of>> & {
  /**
   * Merges the first page, read again, into the rows of a list with the newest rows first. Returns null if that is not
   * possible.
   */
  merge?: (rows: Item[], fresh: Of) => Item[] | null;
  /** Called before the first page is read again. */
  onReading?: () => void;
  /** Called when all pages that are shown have been read again. */
  onReload?: () => void;
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
  /** Whether the next read fetches the next page. */
  let isNext = false;
  /** Whether the end of the list was reached, and the next page has not been read since. */
  let isNextMissing = false;
  /** Number of pages that are shown. */
  let shownPages = 0;

  async function readPages(stopping: AbortSignal): Promise<Rows<Item, Of>> {
    const before = client.getQueryData<Rows<Item, Of>>(key);
    const isReadingNext = isNext;
    isNext = false;
    if (isReadingNext && before !== undefined && before.cursor !== null) {
      const page = await read(before.cursor, stopping);
      return {
        ...before,
        // Rows may have been changed in the meantime.
        items: append(client.getQueryData<Rows<Item, Of>>(key)?.items ?? before.items, page.items),
        cursor: page.next_cursor,
        pages: before.pages + 1,
      };
    }
    options.onReading?.();
    const first = await read(null, stopping);
    const now = client.getQueryData<Rows<Item, Of>>(key);
    const known = now?.items ?? [];
    const merged = now && now.pages > 1 && options.merge?.(known, first);
    if (merged) return { ...now, items: merged, first };
    let items = append([], first.items);
    let { next_cursor: cursor }: Page<Item> = first;
    for (let page = 1; page < (before?.pages ?? 1) && cursor !== null; page++) {
      const found: Of = await read(cursor, stopping);
      items = append(items, found.items);
      cursor = found.next_cursor;
    }
    options.onReload?.();
    return { items: keepUnchanged(known, items), first, cursor, pages: before?.pages ?? 1 };
  }

  const observer = new QueryObserver<Rows<Item, Of>>(client, {
    ...toQueryOptions(key, options, options.merge !== undefined),
    queryFn: ({ signal: stopping }) => readPages(stopping),
    structuralSharing: false,
  });
  const items = signal<Item[] | null>(null);
  const error = signal<unknown>(null);
  const hasMore = signal(true);
  const first = signal<Of | null>(null);
  const show = ({ data, error: failure, isFetching }: Result<Rows<Item, Of>> & { isFetching: boolean }): void => {
    if (data !== undefined) {
      items.value = data.items;
      first.value = data.first;
      hasMore.value = data.cursor !== null;
      if (data.pages > shownPages || data.cursor === null) isNextMissing = false;
      shownPages = data.pages;
    }
    // While the server is unreachable, shown rows stay and the shell shows a notice. A requested next page that is
    // missing still shows its error.
    const isNoticed = data !== undefined && !isNextMissing && isOffline(failure);
    error.value = isNoticed ? null : failure;
    if (isNextMissing && !isFetching && failure === null) list.loadMore();
  };
  const list: List<Item, Of> = {
    items,
    error,
    hasMore,
    first,
    loadMore: () => {
      // If all pages are loaded, it was the reload that failed.
      if (!hasMore.peek() && error.peek() === null) return;
      isNextMissing = hasMore.peek();
      // After a reload, the next page is read.
      if (observer.getCurrentResult().isFetching) return;
      isNext = true;
      void observer.refetch();
    },
    reload: async () => {
      isNext = false;
      await observer.refetch();
    },
    change: (update, cursor) =>
      void client.setQueryData<Rows<Item, Of>>(
        key,
        (data) => data && { ...data, items: update(data.items), ...(cursor !== undefined && { cursor }) },
      ),
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

type Identified = { id?: string; user_id?: string; workspace?: { id: string } };

/** Returns the key of a row. Members and the storage of workspaces have no ID of their own. */
export const getId = (item: unknown): unknown => {
  const { id, user_id: userId, workspace } = item as Identified;
  return id ?? userId ?? workspace?.id ?? item;
};

/** Appends the rows that the list does not have yet: rows that were added meanwhile move others to later pages. */
function append<Item>(items: Item[], page: Item[]): Item[] {
  const known = new Set(items.map(getId));
  return [...items, ...page.filter((item) => !known.has(getId(item)))];
}

/** Returns the fresh rows, with the previous object of each unchanged row. */
function keepUnchanged<Item>(before: Item[], fresh: Item[]): Item[] {
  const known = new Map(before.map((item) => [getId(item), item]));
  return fresh.map((item) => keepSame(known.get(getId(item)), item));
}

/** Returns the fresh value, or the previous one if they are equal, so that it is not rendered again. */
export const keepSame = <Item>(before: Item | undefined, fresh: Item): Item =>
  before !== undefined && JSON.stringify(before) === JSON.stringify(fresh) ? before : fresh;
