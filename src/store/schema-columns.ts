/** Columns that many tables share. */
import { type AnySQLiteColumn, integer, text } from "drizzle-orm/sqlite-core";

export const id = () => text().primaryKey();

/** Milliseconds since 1970. */
export const time = () => integer();

export const flag = () => integer({ mode: "boolean" }).notNull().default(false);

/** The ID of the row to which a row belongs, and with which it is deleted. */
export const belongsTo = (owner: () => AnySQLiteColumn) => text().notNull().references(owner, { onDelete: "cascade" });
