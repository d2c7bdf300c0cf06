/** Conditions on lists of any length. */
import { type Column, type SQL, sql } from "drizzle-orm";

/**
 * Matches rows whose column has one of the values. Unlike `inArray`, it binds only one parameter: SQLite allows 32,766
 * in a statement, and users can create more rows than that.
 */
export const isAnyOf = (column: Column, values: string[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`;
