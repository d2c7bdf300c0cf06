/** Lists that are read page by page as the user scrolls. */
import { type Signal, signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { toMessage } from "./api";

export type Page<Item> = { items: Item[]; next_cursor: string | null };
type ReadPage<Item> = (cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>;

export type PagedList<Item> = {
  items: Signal<Item[] | null>;
  error: Signal<string | null>;
  hasMore: Signal<boolean>;
  loadMore(): void;
  /** Reads the pages again that are shown, from the first on. */
  reload(): Promise<void>;
  /** Changes what is shown until the next reading. */
  change(update: (items: Item[]) => Item[]): void;
};

/** Reads the first page when the component appears and when a dependency changes. `items` is null until it is there. */
export function usePagedList<Item>(read: ReadPage<Item>, dependencies: unknown[]): PagedList<Item> {
  const list = useMemo(() => createPagedList(read), dependencies);
  useLayoutEffect(() => {
    list.loadMore();
    return list.stop;
  }, [list]);
  return list;
}

/** Creates a list whose first page is read with `loadMore`. */
export function createPagedList<Item>(read: ReadPage<Item>): PagedList<Item> & { stop(): void } {
  const items = signal<Item[] | null>(null);
  const error = signal<string | null>(null);
  const hasMore = signal(true);
  let cursor: string | null = null;
  let pages = 0;
  let current: AbortController | null = null;
  /** The end of the list was reached while it was read again. */
  let isMoreWanted = false;
  let isReloading = false;
  let isStopped = false;

  async function run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    current = controller;
    error.value = null;
    try {
      await work(controller.signal);
    } catch (thrown) {
      if (!controller.signal.aborted) error.value = toMessage(thrown);
    } finally {
      if (current === controller) current = null;
    }
  }

  const list: PagedList<Item> & { stop(): void } = {
    items,
    error,
    hasMore,
    loadMore: () => {
      if (current !== null) {
        isMoreWanted ||= isReloading;
        return;
      }
      // Nothing is left to read: it was the reload that failed.
      if (!hasMore.value) return error.value === null ? undefined : void list.reload();
      void run(async (signal) => {
        const page = await read(cursor, signal);
        if (signal.aborted) return;
        items.value = append(items.value ?? [], page.items);
        cursor = page.next_cursor;
        hasMore.value = cursor !== null;
        pages++;
      });
    },
    reload: async () => {
      // Reading the next page is put off, not forgotten.
      isMoreWanted ||= current !== null && !isReloading && pages > 0;
      current?.abort();
      isReloading = true;
      await run(async (signal) => {
        let fresh: Item[] = [];
        let next: string | null = null;
        const count = Math.max(1, pages);
        for (let page = 0; page < count; page++) {
          const found: Page<Item> = await read(next, signal);
          if (signal.aborted) return;
          fresh = append(fresh, found.items);
          next = found.next_cursor;
          if (next === null) break;
        }
        items.value = keepUnchanged(items.value ?? [], fresh);
        cursor = next;
        hasMore.value = next !== null;
        pages = count;
      });
      // A later reload has taken over, or the list is gone.
      if (current !== null || isStopped) return;
      isReloading = false;
      const isWanted = isMoreWanted && error.value === null;
      isMoreWanted = false;
      if (isWanted) list.loadMore();
    },
    change: (update) => {
      items.value = update(items.value ?? []);
    },
    stop: () => {
      isStopped = true;
      current?.abort();
    },
  };
  return list;
}

const getId = (item: unknown): unknown => (item as { id?: unknown }).id ?? item;

/** Appends the rows of a page that the list does not have yet: rows that were added meanwhile move the others to later pages. */
function append<Item>(items: Item[], page: Item[]): Item[] {
  const known = new Set(items.map(getId));
  return [...items, ...page.filter((item) => !known.has(getId(item)))];
}

/** Returns the fresh rows, with the object of before for each that is the same: only what has changed is drawn again. */
function keepUnchanged<Item>(before: Item[], fresh: Item[]): Item[] {
  const known = new Map(before.map((item) => [getId(item), item]));
  return fresh.map((item) => {
    const old = known.get(getId(item));
    return old !== undefined && JSON.stringify(old) === JSON.stringify(item) ? old : item;
  });
}
