/** Common queries and result conversions. */
import { and, desc, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable, SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { Queries } from "./db";
import { type RowPage, toRowPage } from "./paging";

/** Returns the first row of a query, or null. */
export const first = async <Row>(query: PromiseLike<Row[]>): Promise<Row | null> => (await query)[0] ?? null;

/** Returns the row of a query that yields exactly one. */
export const only = async <Row>(query: PromiseLike<Row[]>): Promise<Row> => (await query)[0]!;

/** Returns whether a query yields any rows. */
export const exists = async (query: PromiseLike<unknown[]>): Promise<boolean> => (await query).length > 0;

/** Returns the IDs of the rows. */
export const listIds = async <Id>(query: PromiseLike<{ id: Id }[]>): Promise<Id[]> => (await query).map(({ id }) => id);

/** Returns the first row of the table, in this order, that matches the condition, or null. */
export async function findRow<T extends SQLiteTable>(
  db: Queries,
  table: T,
  condition: SQL | undefined,
  ...order: (SQL | SQLiteColumn)[]
): Promise<T["$inferSelect"] | null> {
  const query = db.select().from(table as SQLiteTable);
  return first(
    query
      .where(condition)
      .orderBy(...order)
      .limit(1),
  );
}

/** Lists the rows of the table, in this order, that match the condition. */
export const listRows = <T extends SQLiteTable>(
  db: Queries,
  table: T,
  condition: SQL | undefined,
  ...order: (SQL | SQLiteColumn)[]
): Promise<T["$inferSelect"][]> =>
  db
    .select()
    .from(table as SQLiteTable)
    .where(condition)
    .orderBy(...order)
    .execute();

/** Returns whether a row of the table matches the condition. */
export const hasRow = (db: Queries, table: SQLiteTable, condition: SQL | undefined): Promise<boolean> =>
  exists(db.select({ one: sql`1` }).from(table).where(condition).limit(1));

/** Inserts a row, and returns it with its defaults. */
export const insertRow = <T extends SQLiteTable>(tx: Queries, table: T, row: T["$inferInsert"]) =>
  only<T["$inferSelect"]>(tx.insert(table).values(row).returning());

/** Changes the rows that match the condition. Returns the first one, or null. */
export const updateRow = <T extends SQLiteTable>(
  tx: Queries,
  table: T,
  change: SQLiteUpdateSetSource<T>,
  condition: SQL | undefined,
) => first<T["$inferSelect"]>(tx.update(table).set(change).where(condition).returning());

/** Changes the rows that match the condition. Returns whether there were any. */
export async function updateRows<T extends SQLiteTable>(
  tx: Queries,
  table: T,
  change: SQLiteUpdateSetSource<T>,
  condition: SQL | undefined,
): Promise<boolean> {
  const { rowsAffected } = await tx.update(table).set(change).where(condition);
  return rowsAffected > 0;
}

/** Deletes the rows that match the condition. */
export async function deleteRows(tx: Queries, table: SQLiteTable, condition: SQL | undefined): Promise<void> {
  await tx.delete(table).where(condition);
}

/** A page of a list sorted by ID, newest first: the rows after `afterId`, or the first ones if it is null. */
export type IdPage = { afterId: string | null; limit: number };

/** Matches the rows after the previous page. */
export const isAfter = (id: SQLiteColumn, { afterId }: IdPage): SQL | undefined =>
  afterId === null ? undefined : lt(id, afterId);

/** Lists the rows of the table that match the condition, newest first. */
export const listNewest = <T extends SQLiteTable & { id: SQLiteColumn }>(
  db: Queries,
  table: T,
  condition: SQL | undefined,
  page: IdPage,
): Promise<RowPage<T["$inferSelect"]>> =>
  toRowPage(
    db
      .select()
      .from(table as SQLiteTable)
      .where(and(condition, isAfter(table.id, page)))
      .orderBy(desc(table.id)),
    page.limit,
  );

/** A page of a list: `limit` rows, skipping the first `offset`. */
export type OffsetPage = { limit: number; offset: number };

/** The rows of a page, and the total number of rows. */
export type CountedRows<Row> = { rows: Row[]; total: number };

/** Reads a page of a query. `total` counts its rows. */
export async function readPage<Row>(
  query: { limit(n: number): { offset(n: number): PromiseLike<Row[]> } },
  { limit, offset }: OffsetPage,
  total: PromiseLike<number>,
): Promise<CountedRows<Row>> {
  return { rows: await query.limit(limit).offset(offset), total: await total };
}
