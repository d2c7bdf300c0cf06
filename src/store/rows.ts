/** Common conditions, queries and result conversions. */
import { and, type Column, desc, eq, lt, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { AnySQLiteColumn, SQLiteColumn, SQLiteTable, SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { Queries } from "./db";
import type { SortKey } from "./paging";

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

/** Matches the rows after the key `[value, id]`, or any row if it is null. Lists are sorted by `value`, then by ID. */
export function follows(value: SQLWrapper, id: SQLWrapper, after: SortKey | null, isDescending: boolean) {
  if (after === null) return undefined;
  const [last, lastId] = after;
  return isDescending
    ? sql`(${value} < ${last} OR (${value} = ${last} AND ${id} < ${lastId}))`
    : sql`(${value} > ${last} OR (${value} = ${last} AND ${id} > ${lastId}))`;
}

/** A page of a list's rows. `hasMore`: more rows follow. */
export type RowPage<Row> = { rows: Row[]; hasMore: boolean };

/** Reads the first `limit` rows of a query as a page. */
export async function toRowPage<Row>(
  query: { limit(n: number): PromiseLike<Row[]> },
  limit: number,
): Promise<RowPage<Row>> {
  const rows = await query.limit(limit + 1);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
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

/**
 * Matches rows whose column has one of the values. Unlike `inArray`, it binds only one parameter: SQLite allows 32,766
 * in a statement, and users can create more rows than that.
 */
export const isAnyOf = (column: Column, values: string[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`;

/**
 * Returns whether a column contains a text, ignoring case. SQLite folds only ASCII letters: other letters match as
 * typed, and if the whole text is in lower or upper case.
 */
export function contains(column: AnySQLiteColumn, text: string): SQL | undefined {
  const variants = new Set([text, text.toLowerCase(), text.toUpperCase()]);
  return or(...[...variants].map((one) => sql`instr(lower(${column}), lower(${one})) > 0`));
}

type PreparedQuery<Values, Row> = { execute(values: Values): Promise<Row[]> };

/** Returns a query for one row or null. `build` uses `sql.placeholder` for each value. */
export function prepareRowQuery<Values extends Record<string, unknown>, Row>(
  build: (db: Queries) => PreparedQuery<Values, Row>,
): (db: Queries, values: Values) => Promise<Row | null> {
  const built = new WeakMap<Queries, PreparedQuery<Values, Row>>();
  return async (db, values) => {
    const query = built.get(db) ?? build(db);
    built.set(db, query);
    const [row] = await query.execute(values);
    return row ?? null;
  };
}

/** Returns a query for the row with an ID if it belongs to the workspace, otherwise null. */
export function prepareOwnRowQuery<T extends SQLiteTable & { id: SQLiteColumn; workspace_id: SQLiteColumn }>(table: T) {
  const isOwn = and(eq(table.id, sql.placeholder("id")), eq(table.workspace_id, sql.placeholder("workspaceId")));
  const find = prepareRowQuery<{ id: string; workspaceId: string }, T["$inferSelect"]>((db) =>
    db
      .select()
      .from(table as SQLiteTable)
      .where(isOwn)
      .limit(1)
      .prepare(),
  );
  return (db: Queries, workspaceId: string, id: string) => find(db, { id, workspaceId });
}
