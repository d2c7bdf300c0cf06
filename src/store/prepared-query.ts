/** Prepared queries. Building a query takes several times as long as running it, so frequent ones are built once per connection. */
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
