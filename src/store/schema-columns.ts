/** Columns that many tables have. */
import { type AnySQLiteColumn, integer, text } from "drizzle-orm/sqlite-core";

export const id = () => text().primaryKey();

/** Milliseconds since 1970. */
export const time = () => integer();

export const flag = () => integer({ mode: "boolean" }).notNull().default(false);

/** The ID of the row that a row belongs to and is deleted with. */
export const belongsTo = (owner: () => AnySQLiteColumn) => text().notNull().references(owner, { onDelete: "cascade" });
