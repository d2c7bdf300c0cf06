/** Updates a long list, newest rows first, without reading all of it again. Pure. */
import { keepSame, type Page } from "./cache";

type Row = { id: string; created_at: string };

/**
 * Merges the first page, read again, into the rows. Returns null if rows between that page and the others may be
 * missing. Unchanged rows stay the same objects, so that they are not rendered again.
 */
export function mergeNewest<Item extends Row>(rows: Item[], fresh: Page<Item>): Item[] | null {
  const known = new Map(rows.map((row) => [row.id, row]));
  const first = fresh.items.map((row) => keepSame(known.get(row.id), row));
  const last = first.at(-1);
  if (last === undefined || fresh.next_cursor === null) return keepList(rows, first);
  if (rows.length > 0 && !first.some(({ id }) => known.has(id))) return null;
  return keepList(rows, [...first, ...rows.filter((row) => isOlder(row, last))]);
}

const isOlder = (one: Row, other: Row): boolean =>
  one.created_at < other.created_at || (one.created_at === other.created_at && one.id < other.id);

const keepList = <Item>(before: Item[], after: Item[]): Item[] =>
  before.length === after.length && before.every((row, at) => row === after[at]) ? before : after;
