/**
 * Keeps a long list current without reading all of it after each event: its first page and the rows near the view are
 * read again. The others are stale until they come near the view, or something is done with them. Where rows may be
 * missing or in the wrong place, all pages are read in the background.
 */
import { keepSame, type List, type Page } from "../../app/cache";
import { sleep } from "../../app/retry";

export type NearRows<Item> = {
  /** Merges the first page, read again, into the rows. Null for a short list, which is read as a whole. */
  merge(rows: Item[], fresh: Page<Item>): Item[] | null;
  /** Call it before the first page is read again. */
  onReading(): void;
  /** Unmarks the rows of a short list, which has been read again as a whole. */
  onReload(): void;
  /** Marks a row as possibly added, removed or moved; null marks all rows. */
  doubt(id: string | null): void;
  /** Sets the range of rows that are near the view. */
  view(first: number, last: number): void;
  /**
   * Returns those of these rows that are still in the list, as they were read after their last known change: first
   * those that it shows, in its order. Reads each once, however many change meanwhile. Rejects with the error of a
   * read.
   */
  refresh(ids: readonly string[]): Promise<Item[]>;
  /** Ends background reads. Returns whether rows may be missing, gone or in the wrong place. */
  stop(): boolean;
};

export type NearSource<Item> = RowSource<Item> & {
  /** Returns those of the rows that belong to the list. */
  readRows(ids: string[]): Promise<Item[]>;
  /**
   * Compares the places of two rows in the list: below 0 if the first one is above the other; 0 if they may have the
   * same place.
   */
  compare(one: Item, other: Item): number;
};

/** Shorter lists are read again as a whole. */
const MANY_ROWS = 300;
/** Maximum number of rows that are read by their IDs at once. */
const MAX_ROWS = 100;
/** Rows are read when the view has rested for this long. */
const REST_MS = 200;
/** A failed reading is repeated after this time. */
const RETRY_MS = 15_000;

export function createNearRows<Item extends Row>(source: NearSource<Item>): NearRows<Item> {
  const { getList, readRows, compare } = source;
  const stale = new Set<string>();
  /** Marked rows: they may be missing, gone or in the wrong place. */
  const doubted = new Set<string>();
  /** Whether all rows are marked. */
  let isAllDoubted = false;
  /** Whether rows were marked since the last read of the first page began. */
  let hasNewDoubt = false;
  const reading = new Map<string, Promise<Item[]>>();
  let readingAll: Promise<void> | null = null;
  /** Before this time, no reading of all pages starts by itself: they take at most half of the time. */
  let restsUntil = 0;
  let merges = 0;
  let near: [first: number, last: number] = [0, 0];
  let resting: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  const addDoubt = (id: string): void => {
    if (doubted.size < MAX_ROWS) return void doubted.add(id);
    isAllDoubted = true;
    doubted.clear();
  };

  /** Reads at most `MAX_ROWS` rows, and returns those that belong to the list. */
  function readAgain(ids: string[]): Promise<Item[]> {
    const doubts = ids.filter((id) => doubted.delete(id));
    for (const id of ids) stale.delete(id);
    const change = (found: Item[]) => {
      getList().change((rows) => {
        const known = new Map(rows.map((row) => [row.id, row]));
        const last = rows.at(-1);
        // Rows after the last loaded one are read when the user reaches it.
        const isBelow = (row: Item) => getList().hasMore.peek() && last !== undefined && compare(row, last) > 0;
        isAllDoubted ||= found.some((row) => {
          const before = known.get(row.id);
          return before === undefined ? !isBelow(row) : compare(before, row) !== 0;
        });
        const fresh = new Map(found.map((row) => [row.id, row]));
        const gone = new Set(ids.filter((id) => !fresh.has(id)));
        return rows.filter(({ id }) => !gone.has(id)).map((row) => keepSame(row, fresh.get(row.id) ?? row));
      });
      return found;
    };
    const done = readRows(ids).then(change, (error) => {
      for (const id of ids) stale.add(id);
      for (const id of doubts) addDoubt(id);
      throw error;
    });
    for (const id of ids) reading.set(id, done);
    return done.finally(() => {
      for (const id of ids) if (reading.get(id) === done) reading.delete(id);
    });
  }

  const readAll = (): Promise<void> => {
    readingAll ??= readPages().finally(() => {
      readingAll = null;
    });
    return readingAll;
  };

  async function readPages(): Promise<void> {
    const start = Date.now();
    const mergesBefore = merges;
    isAllDoubted = false;
    try {
      await readInOrder(source, () => isOver);
      if (merges === mergesBefore) stale.clear();
    } catch (error) {
      isAllDoubted = true;
      throw error;
    } finally {
      restsUntil = 2 * Date.now() - start;
    }
  }

  function readSoon(ms = REST_MS): void {
    clearTimeout(resting);
    if (isOver || (stale.size === 0 && doubted.size === 0 && !isAllDoubted)) return;
    resting = setTimeout(() => void readNow().catch(() => readSoon(RETRY_MS)), ms);
  }

  async function readNow(): Promise<void> {
    const rows = getList().items.peek() ?? [];
    const inView = rows.slice(near[0], near[1] + 1).flatMap(({ id }) => (stale.has(id) ? id : []));
    const wanted = new Set([...doubted, ...inView]);
    if (wanted.size > 0) await readAgain([...wanted].slice(0, MAX_ROWS));
    if (wanted.size > MAX_ROWS) return readSoon();
    if (!isAllDoubted || readingAll !== null) return;
    const rest = restsUntil - Date.now();
    if (rest > 0) return readSoon(Math.max(rest, REST_MS));
    await readAll();
    readSoon();
  }

  return {
    merge: (rows, fresh) => {
      if (rows.length <= MANY_ROWS || fresh.next_cursor === null) return null;
      merges++;
      const known = new Map(rows.map((row) => [row.id, row]));
      const top = new Set(fresh.items.map(({ id }) => id));
      for (const id of top) doubted.delete(id);
      // Gone, or below the first page now.
      for (const { id } of rows.slice(0, top.size)) if (!top.has(id)) addDoubt(id);
      // More new rows may follow the first page.
      isAllDoubted ||= !known.has(fresh.items.at(-1)?.id ?? "");
      const rest = rows.filter(({ id }) => !top.has(id));
      for (const { id } of rest) stale.add(id);
      for (const id of top) stale.delete(id);
      readSoon();
      return [...fresh.items.map((row) => keepSame(known.get(row.id), row)), ...rest];
    },
    onReading: () => {
      hasNewDoubt = false;
    },
    onReload: () => {
      if (hasNewDoubt) return;
      stale.clear();
      doubted.clear();
      isAllDoubted = false;
    },
    doubt: (id) => {
      hasNewDoubt = true;
      if (id === null) isAllDoubted = true;
      else addDoubt(id);
    },
    view: (first, last) => {
      near = [first, last];
      readSoon();
    },
    refresh: async (ids) => {
      // Any row may be gone, or shown as it was.
      const isUnsure = isAllDoubted || readingAll !== null;
      const readIds = () => new Set((getList().items.peek() ?? []).map(({ id }) => id));
      let shown = readIds();
      const others = new Map<string, Item>();
      const isWanted = (id: string) => isUnsure || stale.has(id) || doubted.has(id) || !shown.has(id);
      const asked = ids.filter((id) => isWanted(id) || reading.has(id));
      for (let start = 0; start < asked.length; start += MAX_ROWS) {
        if (start > 0) await sleep(PACE_MS);
        const some = asked.slice(start, start + MAX_ROWS);
        await Promise.allSettled(some.map((id) => reading.get(id)));
        const wanted = some.filter(isWanted);
        if (wanted.length > 0) for (const row of await readAgain(wanted)) others.set(row.id, row);
      }
      readSoon();
      // The list shows a change in the next task.
      await sleep(0);
      shown = readIds();
      const all = new Set(ids);
      const rows = (getList().items.peek() ?? []).filter(({ id }) => all.has(id));
      return [...rows, ...[...others.values()].filter(({ id }) => !shown.has(id))];
    },
    stop: () => {
      isOver = true;
      clearTimeout(resting);
      return isAllDoubted || doubted.size > 0 || reading.size > 0 || readingAll !== null;
    },
  };
}

type Row = { id: string };

type RowSource<Item> = {
  getList(): Pick<List<Item>, "items" | "hasMore" | "change">;
  readPage(cursor: string | null): Promise<Page<Item>>;
};

/** Between requests of one work: with all others of a page, less than half of the requests that a user may send. */
const PACE_MS = 250;

/** Rows beyond those of the list that are read to find its last one again. */
const MAX_MORE_ROWS = 100;

/**
 * Reads as many pages as the list shows. Rejects with the error of a read, and does nothing once `isOver` returns true.
 */
async function readInOrder<Item extends Row>(source: RowSource<Item>, isOver: () => boolean): Promise<void> {
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
