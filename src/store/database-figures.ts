/**
 * Figures of a database that no migration may change: row counts and balances. Files that no other process has open are
 * read with `bun:sqlite`, which closes deterministically.
 */
import { constants, Database } from "bun:sqlite";

/** Names in messages, by table. No migration may add or remove rows of these tables. */
const ENTITIES: Record<string, string> = {
  users: "accounts",
  api_keys: "API keys",
  projects: "projects",
  assets: "recordings",
  cuts: "cuts",
  renders: "renders",
  webhook_endpoints: "webhook endpoints",
  ledger: "ledger entries",
  holds: "holds",
};

/** Tables that a trigger writes while other tables are migrated, or that a migration may empty. */
const VOLATILE_TABLES = new Set(["migrations", "live_events"]);

/** Amounts that add up to the balance of each workspace. */
const AMOUNTS = { ledger: "delta", holds: "amount" };

/** `rows` counts by table; `balances` has credits and held credits by workspace. */
export type DatabaseFigures = { rows: Map<string, number>; balances: Map<string, number> };

/** Runs `read` on the file at `path`, which it may change. */
export const withDatabase = <T>(path: string, read: (database: Database) => T): T =>
  withOpen(new Database(path, { readwrite: true, create: false }), read);

/** Runs `read` on a file that is not being written and that has no log next to it. Creates no files. */
export const withUnchangedDatabase = <T>(path: string, read: (database: Database) => T): T =>
  withOpen(
    new Database(
      `file:${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}?immutable=1`,
      constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
    ),
    read,
  );

function withOpen<T>(database: Database, read: (database: Database) => T): T {
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** Counts the rows of all tables and sums up the balances. */
export function readFigures(database: Database): DatabaseFigures {
  const rows = new Map(
    readTables(database).map((table) => [table, readNumber(database, `SELECT count(*) FROM "${table}"`)]),
  );
  const balances = new Map<string, number>();
  for (const [table, amount] of Object.entries(AMOUNTS)) {
    const columns = database.query("SELECT name FROM pragma_table_info(?)").values(table).flat();
    // Databases older than workspaces have `user_id`. A personal workspace has the ID of its user.
    const owner = columns.includes("workspace_id") ? "workspace_id" : "user_id";
    const sums = database.query(`SELECT ${owner}, total(${amount}) FROM ${table} GROUP BY 1`).values();
    for (const [id, sum] of sums as [string, number][]) balances.set(`${table} ${id}`, sum);
  }
  return { rows, balances };
}

const readTables = (database: Database): string[] =>
  (
    database
      .query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
      .values() as [string][]
  ).flat();

const readNumber = (database: Database, query: string): number => (database.query(query).values()[0] as [number])[0];

/** Returns a sentence about data that a migration has lost or changed, or null. */
export function findChangedFigure(before: DatabaseFigures, after: DatabaseFigures): string | null {
  for (const [table, expected] of before.rows) {
    if (VOLATILE_TABLES.has(table)) continue;
    const found = after.rows.get(table) ?? 0;
    if (ENTITIES[table] === undefined ? found < expected : found !== expected)
      return `The migrated copy has ${found} ${ENTITIES[table] ?? `rows in ${table}`}, expected ${expected}.`;
  }
  for (const key of new Set([...before.balances.keys(), ...after.balances.keys()])) {
    const [expected = 0, found = 0] = [before.balances.get(key), after.balances.get(key)];
    const [table, id] = key.split(" ");
    if (expected !== found)
      return `The migrated copy has ${found} credits in ${table} of workspace ${id}, expected ${expected}.`;
  }
  return null;
}

/** Lists by how much `newer` exceeds `older`, such as `2 recordings`. */
export const listAdditions = (older: DatabaseFigures, newer: DatabaseFigures): string[] =>
  Object.entries(ENTITIES).flatMap(([table, name]) => {
    const added = (newer.rows.get(table) ?? 0) - (older.rows.get(table) ?? 0);
    return added > 0 ? [`${added} ${added === 1 ? toSingular(name) : name}`] : [];
  });

const toSingular = (name: string): string => name.replace(/ies$/, "y").replace(/s$/, "");
