/** Searches for part of a text. */
import { or, type SQL, sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";

/**
 * Returns whether a column contains a text, ignoring case. SQLite folds only ASCII letters: other letters match as
 * typed, and if the whole text is in lower or upper case.
 */
export function contains(column: AnySQLiteColumn, text: string): SQL | undefined {
  const variants = new Set([text, text.toLowerCase(), text.toUpperCase()]);
  return or(...[...variants].map((one) => sql`instr(lower(${column}), lower(${one})) > 0`));
}
