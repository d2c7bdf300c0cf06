/** Columns that many tables share. */
import { type AnySQLiteColumn, customType, integer, text } from "drizzle-orm/sqlite-core";
import { newId } from "../lib/ids";

/** New rows get an ID, unless they have one. */
export const id = () => text().primaryKey().$defaultFn(newId);

/** Milliseconds since 1970. */
export const time = () => integer();

export const flag = () => integer({ mode: "boolean" }).notNull().default(false);

/** The ID of the row that this one extends, as the primary key. */
export const idOf = (owner: () => AnySQLiteColumn) => text().primaryKey().references(owner, { onDelete: "cascade" });

/** The ID of the row to which a row belongs, and with which it is deleted. */
export const belongsTo = (owner: () => AnySQLiteColumn) => text().notNull().references(owner, { onDelete: "cascade" });

/** Bytes as base64. Older versions have stored the base64 itself, so the column is still a text. */
export const packedBytes = customType<{ data: string; driverData: Uint8Array | ArrayBuffer | string }>({
  dataType: () => "text",
  toDriver: (base64) => Buffer.from(base64, "base64"),
  fromDriver: (stored) =>
    typeof stored === "string" ? stored : Buffer.from(new Uint8Array(stored)).toString("base64"),
});
