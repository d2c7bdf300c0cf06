/** Administration lists with their total number of rows. */
import { type Signal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { toOffsetQuery, toPage } from "../../app/offset-page";
import { type PagedList, usePagedList } from "../../app/pages-of";

type OffsetQuery = { limit: number; offset: number };

export type OffsetList<Item> = PagedList<Item> & {
  /** Number of matching rows; null until it is known. */
  total: Signal<number | null>;
};

/**
 * Returns a paged list with its total. Rows added meanwhile move others to later pages, so rows that were already
 * loaded are skipped.
 */
export function useOffsetList<Item>(
  read: (page: OffsetQuery, signal: AbortSignal) => Promise<OffsetQuery & { items: Item[]; total: number }>,
  rowKey: (row: Item) => string,
  dependencies: unknown[],
): OffsetList<Item> {
  const { total, seen } = useMemo(
    () => ({ total: signal<number | null>(null), seen: new Set<string>() }),
    dependencies,
  );
  const list = usePagedList<Item>(async (cursor, stopping) => {
    const page = await read(toOffsetQuery(cursor), stopping);
    if (cursor === null) seen.clear();
    const { next_cursor } = toPage(page);
    const items = page.items.filter((row) => !seen.has(rowKey(row)));
    for (const row of items) seen.add(rowKey(row));
    total.value = page.total;
    return { items, next_cursor };
  }, dependencies);
  return useMemo(() => ({ ...list, total }), [list]);
}
