/** The query parameter `sort` of lists: a column, with `-` before it for descending. */
import type { TSchema } from "@sinclair/typebox";
import { oneOf } from "./fields";

/** Returns the schema of the parameter for the columns that a list can be sorted by. */
export const sortField = <Column extends string>(columns: readonly Column[]): TSchema =>
  oneOf(...columns.flatMap((column) => [column, `-${column}` as const]));

export type Sorting<Column extends string> = { sort: Column; isDescending: boolean };

/** Splits `-name` into the column and the direction. */
export function parseSort<Column extends string>(
  sort: string | undefined,
  usual: Column,
  isDescending: boolean,
): Sorting<Column> {
  if (sort === undefined) return { sort: usual, isDescending };
  return { sort: sort.replace(/^-/, "") as Column, isDescending: sort.startsWith("-") };
}
