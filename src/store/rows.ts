/** Common conditions, queries and result conversions. */
import {
  and,
  type Column,
  desc,
  eq,
  getTableColumns,
  isNull,
  lt,
  type lte,
  or,
  SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { AnySQLiteColumn, SQLiteColumn, SQLiteTable, SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { Queries } from "./db";
import type { SortKey } from "./paging";

/** Returns the first row of a query, or null. */
export const first = async <Row>(query: PromiseLike<Row[]>): Promise<Row | null> => (await query)[0] ?? null;

/** Returns the row of a query that yields exactly one. */
export const only = async <Row>(query: PromiseLike<Row[]>): Promise<Row> => (await query)[0]!;

export const exists = async (query: PromiseLike<unknown[]>): Promise<boolean> => (await query).length > 0;

/** Returns the only value of a raw query's first row, or null. */
export const readValue = async <Value>(db: Queries, query: SQL): Promise<Value | null> =>
  (await db.values<[Value | null]>(query))[0]?.[0] ?? null;

export const listIds = async <Id>(query: PromiseLike<{ id: Id }[]>): Promise<Id[]> => (await query).map(({ id }) => id);

/** Values of columns. */
type Values<T extends SQLiteTable> = Partial<T["$inferSelect"]>;
type Filter<T extends SQLiteTable> = { [Name in keyof Values<T>]: Values<T>[Name] | undefined };

/** Matches the rows that have these values in their columns. */
export function hasValues<T extends SQLiteTable>(table: T, values: Values<T>): SQL | undefined {
  const columns = getTableColumns(table);
  return and(
    ...Object.entries(values).map(([name, value]) =>
      value === null ? isNull(columns[name]!) : eq(columns[name]!, value),
    ),
  );
}

/** Matches the rows that have the values of a filter, in which undefined means any. */
export const matchesFilter = <T extends SQLiteTable>(table: T, filter: Filter<T>): SQL | undefined =>
  hasValues(table, Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Values<T>);

/** Returns the common queries of a table. A condition may be an object with values of columns. */
export function rowsOf<T extends SQLiteTable>(table: T) {
  type Row = T["$inferSelect"];
  type Change = SQLiteUpdateSetSource<T>;
  type Condition = SQL | Values<T> | undefined;
  type SortOrder = (SQL | SQLiteColumn)[];
  const { id } = getTableColumns(table) as unknown as { id: AnySQLiteColumn<{ data: string; notNull: true }> };
  const toSql = (condition: Condition): SQL | undefined =>
    condition === undefined || condition instanceof SQL ? condition : hasValues(table, condition);
  const select = (db: Queries, condition: Condition) =>
    db
      .select()
      .from(table as SQLiteTable)
      .where(toSql(condition));
  const update = (tx: Queries, change: Change, condition: Condition): Promise<Row | null> =>
    first(tx.update(table).set(change).where(toSql(condition)).returning());
  const find = (db: Queries, condition: Condition, ...order: SortOrder): Promise<Row | null> =>
    first(
      select(db, condition)
        .orderBy(...order)
        .limit(1),
    );
  const remove = async (tx: Queries, condition: Condition): Promise<boolean> =>
    (await tx.delete(table).where(toSql(condition))).rowsAffected > 0;
  return {
    /** Inserts a row, and returns it with its defaults. */
    insert: (tx: Queries, row: T["$inferInsert"]): Promise<Row> => only(tx.insert(table).values(row).returning()),
    /** Inserts a row without reading it, which takes half the time. */
    add: async (tx: Queries, row: T["$inferInsert"]): Promise<void> => {
      await tx.insert(table).values(row);
    },
    /** Inserts a row unless it conflicts with another one. Returns whether it was inserted. */
    addOnce: async (tx: Queries, row: T["$inferInsert"]): Promise<boolean> =>
      (await tx.insert(table).values(row).onConflictDoNothing()).rowsAffected > 0,
    /** Returns a query that inserts a row, or changes the one with the same values in these unique columns. */
    putBy:
      (...target: SQLiteColumn[]) =>
      async (tx: Queries, row: T["$inferInsert"]): Promise<void> => {
        await tx
          .insert(table)
          .values(row)
          .onConflictDoUpdate({ target, set: row as Change });
      },
    /** Returns the first row, in this order, that matches the condition, or null. */
    find,
    findById: (db: Queries, value: string) => find(db, eq(id, value)),
    /** Returns a query for the row with a value in a unique column, or null. */
    findBy: (column: SQLiteColumn) => (db: Queries, value: string) => find(db, eq(column, value)),
    /** Lists the rows, in this order, that match the condition. */
    list: (db: Queries, condition: Condition, ...order: SortOrder): Promise<Row[]> =>
      select(db, condition)
        .orderBy(...order)
        .execute(),
    /** Lists the rows that match the condition, newest first. */
    listNewest: (db: Queries, condition: Condition, page: IdPage): Promise<RowPage<Row>> =>
      toRowPage(select(db, and(toSql(condition), isAfter(id, page))).orderBy(desc(id)), page.limit),
    /** Lists a page of the rows, in this order, that match the condition, and counts all of them. */
    listPage: (db: Queries, condition: Condition, page: OffsetPage, ...order: SortOrder): Promise<CountedRows<Row>> =>
      readPage(select(db, condition).orderBy(...order), page, db.$count(table, toSql(condition))),
    listIds: (db: Queries, condition: Condition): Promise<string[]> =>
      listIds(
        db
          .select({ id })
          .from(table as SQLiteTable)
          .where(toSql(condition)),
      ),
    count: (db: Queries, condition: Condition): Promise<number> => db.$count(table, toSql(condition)),
    sum: async (db: Queries, column: SQLiteColumn, condition: Condition): Promise<number> =>
      (await readValue<number>(db, sql`SELECT sum(${column}) FROM ${table} WHERE ${toSql(condition) ?? sql`true`}`)) ??
      0,
    has: (db: Queries, condition: Condition): Promise<boolean> =>
      exists(
        db
          .select({ one: sql`1` })
          .from(table as SQLiteTable)
          .where(toSql(condition))
          .limit(1),
      ),
    /** Changes the rows that match the condition. Returns the first one, or null. */
    update,
    updateById: (tx: Queries, value: string, change: Change) => update(tx, change, eq(id, value)),
    /** Changes the rows that match the condition. Returns whether there were any. */
    updateAll: async (tx: Queries, change: Change, condition: Condition): Promise<boolean> =>
      (await tx.update(table).set(change).where(toSql(condition))).rowsAffected > 0,
    /** Deletes the rows that match the condition. Returns whether there were any. */
    delete: remove,
    deleteById: async (tx: Queries, value: string): Promise<void> => {
      await remove(tx, eq(id, value));
    },
    /** Returns a query that deletes the rows with a value in a column or, with `lt` or `lte`, with a lower one. */
    deleteBy:
      <Column extends SQLiteColumn>(column: Column, matches: typeof eq | typeof lt | typeof lte = eq) =>
      (tx: Queries, value: Column["_"]["data"]) =>
        remove(tx, matches(column, value)),
  };
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

/** A page of a list: `limit` rows, skipping the first `offset`. */
export type OffsetPage = { limit: number; offset: number };

export type CountedRows<Row> = { rows: Row[]; total: number };

/** Reads a page of a query. `total` counts its rows. */
export async function readPage<Row>(
  query: { limit(n: number): { offset(n: number): PromiseLike<Row[]> } },
  { limit, offset }: OffsetPage,
  total: number | PromiseLike<number>,
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
