/** Brings the database's schema to this version. The SQL travels inside the executable. */
import { sql } from "drizzle-orm";
import initial from "../../migrations/0000_initial.sql" with { type: "text" };
import refunds from "../../migrations/0001_refunds.sql" with { type: "text" };
import turnsAndStrategy from "../../migrations/0002_turns_and_strategy.sql" with { type: "text" };
import limits from "../../migrations/0003_limits.sql" with { type: "text" };
import type { Queries, Store } from "./db";

/** In order; a name that has been released never changes. */
const MIGRATIONS: { name: string; sql: string }[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_refunds", sql: refunds },
  { name: "0002_turns_and_strategy", sql: turnsAndStrategy },
  { name: "0003_limits", sql: limits },
];

/**
 * Runs the migrations that this database has not seen, all in one transaction. Throws when the database is newer than this
 * program: an old version must not write into it.
 */
export async function migrate(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY NOT NULL, run_at integer NOT NULL)`);
    const seen = await listAppliedMigrations(tx);
    const unknown = [...seen].find((name) => !MIGRATIONS.some((m) => m.name === name));
    if (unknown)
      throw new Error(`the database has migration "${unknown}", which this version does not know: run a newer version`);
    for (const migration of MIGRATIONS.filter((m) => !seen.has(m.name))) {
      for (const statement of migration.sql.split("--> statement-breakpoint")) await tx.run(sql.raw(statement));
      await tx.run(sql`INSERT INTO migrations (name, run_at) VALUES (${migration.name}, ${Date.now()})`);
    }
  });
}

async function listAppliedMigrations(tx: Queries): Promise<Set<string>> {
  const rows = await tx.all<{ name: string }>(sql`SELECT name FROM migrations`);
  return new Set(rows.map((row) => row.name));
}
