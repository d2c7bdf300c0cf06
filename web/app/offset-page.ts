/** Lists that the API pages by `offset`, for `usePagedList`. */
import type { Page } from "./pages-of";

type OffsetPage<Item> = { items: Item[]; total: number; limit: number; offset: number };

/** Returns the query of a page. `cursor` is the offset of its first row. */
export const toOffsetQuery = (cursor: string | null, limit = 100): { limit: number; offset: number } => ({
  limit,
  offset: Number(cursor ?? 0),
});

/** Converts a page to the form that other lists use. */
export function toPage<Item>({ items, total, offset }: OffsetPage<Item>): Page<Item> {
  const end = offset + items.length;
  return { items, next_cursor: items.length > 0 && end < total ? String(end) : null };
}
