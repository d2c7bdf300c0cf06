/** A JSON file of an export: selected columns of a table's rows. */
import type { Queries } from "../../store/db";
import type { RowReader } from "../../store/exported-rows";

/** A file with one object per row. `about` is for the README. */
export type ExportedTable = {
  file: string;
  about: string;
  /** Yields the rows of the user as JSON text, in batches. */
  read(db: Queries, userId: string): AsyncGenerator<string[]>;
};

/** Columns with a time, in milliseconds since 1970. */
const TIME_COLUMN = /_(?:at|until|end|since)$/;

const showValue = (name: string, value: unknown): unknown =>
  typeof value === "number" && TIME_COLUMN.test(name) ? new Date(value).toISOString() : value;

/** Returns a function that shows these columns of a row. */
export const showColumns =
  <Row extends object>(...names: (keyof Row & string)[]) =>
  (row: Row): Record<string, unknown> =>
    Object.fromEntries(names.map((name) => [name, showValue(name, row[name])]));

/** Describes a file. `show` returns the object of a row; `toJson` its text, where a part of it is stored as JSON. */
export function table<Row extends object>(
  file: string,
  about: string,
  rows: RowReader<Row>,
  show: (row: Row) => Record<string, unknown>,
  toJson: (row: Row) => string = (row) => JSON.stringify(show(row)),
): ExportedTable {
  return {
    file,
    about,
    read: async function* (db, userId) {
      for await (const batch of rows(db, userId)) yield batch.map(toJson);
    },
  };
}
