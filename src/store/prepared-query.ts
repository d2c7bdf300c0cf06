/** Queries that are asked all the time: building one costs several times what running it does, so it is built once a connection. */
import type { Queries } from "./db";

type PreparedQuery<Values, Row> = { execute(values: Values): Promise<Row[]> };

/** A query that gives its first row, or null. `build` uses `sql.placeholder` for each of the values. */
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
