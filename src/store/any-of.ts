/** Conditions on lists of any length. */
import { type Column, type SQL, sql } from "drizzle-orm";

/**
 * Returns a condition that is true when the column has one of the values. Unlike `inArray` it binds one parameter: SQLite allows 32,766 in
 * a statement, and users can create more rows than that.
 */
export const isAnyOf = (column: Column, values: string[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`;
