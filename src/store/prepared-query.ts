/** Prepared queries. Frequent ones are built once per connection, because building takes longer than running. */
import { and, eq, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Queries } from "./db";

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
