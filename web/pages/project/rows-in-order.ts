/**
 * Reads all pages of a long list again, while it is shown and changes, so that it has the rows of the server in their
 * order.
 */

import { keepSame, type List, type Page } from "../../app/cache";
import { sleep } from "../../app/retry";

export type Row = { id: string };

export type RowSource<Item> = {
  getList(): Pick<List<Item>, "items" | "hasMore" | "change">;
  readPage(cursor: string | null): Promise<Page<Item>>;
};

/** Between requests of one work: with all others of a page, less than half of the requests that a user may send. */
export const PACE_MS = 250;

/** Rows beyond those of the list that are read to find its last one again. */
const MAX_MORE_ROWS = 100;

/**
 * Reads as many pages as the list shows. Rejects with the error of a read, and does nothing once `isOver` returns true.
 */
export async function readInOrder<Item extends Row>(source: RowSource<Item>, isOver: () => boolean): Promise<void> {
  const { items, hasMore, change } = source.getList();
  const before = new Map((items.peek() ?? []).map((row) => [row.id, row]));
  const found = new Map<string, Item>();
  const isWhole = () => {
    const rows = items.peek() ?? [];
    const more = found.size - rows.length;
    // The last row may be gone.
    return hasMore.peek() && more >= 0 && (more >= MAX_MORE_ROWS || found.has(rows.at(-1)?.id ?? ""));
  };
  let cursor: string | null = null;
  do {
    if (found.size > 0) await sleep(PACE_MS);
    if (isOver()) return;
    const page: Page<Item> = await source.readPage(cursor);
    for (const row of page.items) {
      // A row that has moved down meanwhile is where it was found last.
      found.delete(row.id);
      found.set(row.id, row);
    }
    cursor = page.next_cursor;
  } while (cursor !== null && !isWhole());
  change((rows) => joinRows(before, rows, found), cursor);
}

/**
 * Returns the rows that were found, in their order. Those that were changed, removed or added since `before` are as in
 * `rows`.
 */
function joinRows<Item extends Row>(
  before: ReadonlyMap<string, Item>,
  rows: readonly Item[],
  found: ReadonlyMap<string, Item>,
): Item[] {
  const shown = new Map(rows.map((row) => [row.id, row]));
  const joined = [...found.values()].flatMap((row) => {
    const is = shown.get(row.id);
    return before.get(row.id) === is ? keepSame(is, row) : (is ?? []);
  });
  for (const [index, row] of rows.entries()) {
    // A changed row that was not found may have moved to where the reading had been.
    if (before.get(row.id) === row || found.has(row.id)) continue;
    const above = rows[index - 1]?.id;
    joined.splice(joined.findIndex(({ id }) => id === above) + 1, 0, row);
  }
  return joined;
}
