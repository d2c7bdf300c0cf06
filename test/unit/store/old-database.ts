/** Databases of older versions, with rows. */
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const MIGRATIONS = join(import.meta.dir, "../../../migrations");
export const MIGRATION_NAMES = readdirSync(MIGRATIONS)
  .filter((file) => file.endsWith(".sql"))
  .sort()
  .map((file) => file.slice(0, -".sql".length));
const ACCOUNTS = "0005_accounts";

/** Columns and values of a row of each table that the user `u` owns. `@` is the column of the owner. */
const OWNED_ROWS: [string, string][] = [
  ["projects (id, @, name, state, created_at, updated_at, last_activity_at)", "'p', 'u', 'P', 'active', 1, 1, 1"],
  [
    "assets (id, @, project_id, kind, state, upload_length, upload_active_at, payment, created_at)",
    "'a', 'u', 'p', 'source', 'ready', 64, 1, 'none', 1",
  ],
  ["pipelines (id, @, state, input_asset_id, created_at)", "'pl', 'u', 'completed', 'a', 1"],
  [
    "steps (id, pipeline_id, @, step_order, processor_name, state, subject_id, run_after, created_at)",
    "'s', 'pl', 'u', 0, 'prepare', 'completed', 'a', 1, 1",
  ],
  ["cuts (id, @, asset_id, state, script, options, created_at)", "'c', 'u', 'a', 'completed', 'S', '{}', 1"],
  [
    "renders (id, @, asset_id, cut_id, state, output, resolved, request_hash, created_at)",
    "'r', 'u', 'a', 'c', 'completed', '{}', '{}', 'h', 1",
  ],
  ["ledger (id, @, type, delta, created_at)", "'l', 'u', 'grant', 5, 1"],
  ["holds (id, @, pipeline_id, amount, created_at)", "'h', 'u', 'pl', 2, 1"],
  ["events (id, @, type, entity_id, data, created_at)", "'e', 'u', 'asset.ready', 'a', '{}', 1"],
  [
    "webhook_endpoints (id, @, url, event_types, state, secret, created_at)",
    "'w', 'u', 'https://example.test', '[]', 'enabled', 'whsec', 1",
  ],
  [
    "deliveries (id, endpoint_id, @, event_id, type, body, state, created_at)",
    "'d', 'w', 'u', 'e', 'asset.ready', '{}', 'pending', 1",
  ],
];

/**
 * Creates a database with these migrations, one user and one row of each table that the user owns.
 */
export function createOldDatabase(path: string, migrations: readonly string[]): void {
  using database = new Database(path, { create: true });
  const hasWorkspaces = migrations.includes(ACCOUNTS);
  database.run("PRAGMA journal_mode=WAL");
  database.run("PRAGMA synchronous=OFF");
  database.transaction(() => {
    database.run("CREATE TABLE migrations (name text PRIMARY KEY NOT NULL, run_at integer NOT NULL)");
    for (const name of migrations) {
      const text = readFileSync(join(MIGRATIONS, `${name}.sql`), "utf8");
      for (const statement of text.split("--> statement-breakpoint")) database.run(statement);
      database.run("INSERT INTO migrations (name, run_at) VALUES (?, 1)", [name]);
    }
    // In SQL: the drizzle tables have columns that this version did not have.
    database.run("INSERT INTO users (id, email, created_at) VALUES ('u', 'u@example.test', 1)");
    if (hasWorkspaces) {
      database.run("INSERT INTO workspaces (id, name, is_personal, created_at) VALUES ('u', 'Personal', true, 1)");
      database.run(
        "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES ('u', 'u', 'owner', 1)",
      );
    }
    const [column, value] = hasWorkspaces ? ["workspace_id, ", "'u', "] : ["", ""];
    database.run(
      `INSERT INTO api_keys (id, user_id, ${column}name, prefix, hash, created_at) VALUES ('k', 'u', ${value}'K', 'sk_', 'h', 1)`,
    );
    const owner = hasWorkspaces ? "workspace_id" : "user_id";
    for (const [columns, values] of OWNED_ROWS)
      database.run(`INSERT INTO ${columns.replace("@", owner)} VALUES (${values})`);
  })();
}
