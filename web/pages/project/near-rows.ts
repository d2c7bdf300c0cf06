/**
 * Keeps a long list current without reading all of it: after an event, its first page and the rows near the view are read again. The others are
 * stale until they come near the view, or something is done with them.
 */
import type { List, Page } from "../../app/cache";

type Row = { id: string };

export type NearRows<Item> = {
  /** Merges the first page, read again, into the rows. Null for a short list, and if rows between that page and the others may be missing. */
  merge(rows: Item[], fresh: Page<Item>): Item[] | null;
  /** Says which rows are near the view. */
  view(first: number, last: number): void;
  /** Reads those of these rows again that are stale. Rejects with the error of the read. */
  refresh(ids: readonly string[]): Promise<void>;
};

/** Shorter lists are read again as a whole. */
const MANY_ROWS = 300;
/** Maximum number of rows that are read by their IDs at once. */
const MAX_ROWS = 100;
/** Rows are read when the view has rested for this long. */
const REST_MS = 200;

/** `read` returns those of the rows that still belong to the list. */
export function createNearRows<Item extends Row>(
  getList: () => Pick<List<Item>, "items" | "change">,
  read: (ids: string[]) => Promise<Item[]>,
): NearRows<Item> {
  let stale = new Set<string>();
  let near: [first: number, last: number] = [0, 0];
  let resting: ReturnType<typeof setTimeout> | undefined;

  async function readRows(ids: readonly string[]): Promise<void> {
    const wanted = ids.filter((id) => stale.has(id)).slice(0, MAX_ROWS);
    if (wanted.length === 0) return;
    for (const id of wanted) stale.delete(id);
    try {
      const fresh = new Map((await read(wanted)).map((row) => [row.id, row]));
      const gone = new Set(wanted.filter((id) => !fresh.has(id)));
      getList().change((rows) => rows.filter(({ id }) => !gone.has(id)).map((row) => keepSame(row, fresh.get(row.id))));
    } catch (error) {
      for (const id of wanted) stale.add(id);
      throw error;
    }
  }

  const readSoon = (): void => {
    clearTimeout(resting);
    if (stale.size === 0) return;
    resting = setTimeout(() => {
      const rows = getList().items.peek() ?? [];
      // Read again with the next event, or when the view moves.
      void readRows(rows.slice(near[0], near[1] + 1).map(({ id }) => id)).catch(() => {});
    }, REST_MS);
  };

  return {
    merge: (rows, fresh) => {
      const last = fresh.items.at(-1);
      const end = rows.findLastIndex(({ id }) => id === last?.id);
      if (rows.length <= MANY_ROWS || end < 0) return null;
      const top = new Set(fresh.items.map(({ id }) => id));
      const rest = rows.slice(end + 1).filter(({ id }) => !top.has(id));
      const known = new Map(rows.slice(0, end + 1).map((row) => [row.id, row]));
      stale = new Set(rest.map(({ id }) => id));
      readSoon();
      return [...fresh.items.map((row) => keepSame(known.get(row.id), row)), ...rest];
    },
    view: (first, last) => {
      near = [first, last];
      readSoon();
    },
    refresh: async (ids) => {
      while (ids.some((id) => stale.has(id))) await readRows(ids);
    },
  };
}

/** Returns the fresh row, or the one before if they are equal, so that it is not rendered again. */
const keepSame = <Item>(before: Item | undefined, fresh: Item | undefined): Item =>
  before !== undefined && (fresh === undefined || JSON.stringify(before) === JSON.stringify(fresh)) ? before : fresh!;
