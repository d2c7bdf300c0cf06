/** Lists that are read page by page as the user scrolls. */
import { type Signal, signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { toMessage } from "./api";
import { append, keepUnchanged } from "./page-rows";

export type Page<Item> = { items: Item[]; next_cursor: string | null };
type ReadPage<Item> = (cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>;

export type PagedList<Item> = {
  items: Signal<Item[] | null>;
  error: Signal<string | null>;
  hasMore: Signal<boolean>;
  loadMore(): void;
  /** Reloads the pages that are shown, starting with the first. */
  reload(): Promise<void>;
  /** Changes the shown items until the next read. */
  change(update: (items: Item[]) => Item[]): void;
};

/**
 * Loads the first page when the component appears and when a dependency changes. `items` is null until the page has
 * loaded.
 */
export function usePagedList<Item>(read: ReadPage<Item>, dependencies: unknown[]): PagedList<Item> {
  const list = useMemo(() => createPagedList(read), dependencies);
  useLayoutEffect(() => {
    list.loadMore();
    return list.stop;
  }, [list]);
  return list;
}

/** Creates a list. The first call of `loadMore` reads the first page. */
export function createPagedList<Item>(read: ReadPage<Item>): PagedList<Item> & { stop(): void } {
  const items = signal<Item[] | null>(null);
  const error = signal<string | null>(null);
  const hasMore = signal(true);
  let cursor: string | null = null;
  let pages = 0;
  let current: AbortController | null = null;
  /** Whether the end of the list was reached during a reload. */
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
      // All pages are loaded, so it was the reload that failed.
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
      // The next page is read after the reload.
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
      // A later reload has taken over, or the list has been stopped.
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
