/** Search for a part of a text. */
import { or, type SQL, sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";

/**
 * Returns whether a column contains a text, in any case. SQLite folds ASCII letters only: the others match as they were typed, and in lower and
 * upper case as a whole.
 */
export function contains(column: AnySQLiteColumn, text: string): SQL | undefined {
  const variants = new Set([text, text.toLowerCase(), text.toUpperCase()]);
  return or(...[...variants].map((one) => sql`instr(lower(${column}), lower(${one})) > 0`));
}
