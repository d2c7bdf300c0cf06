/** Migrates the database's schema to this version. The SQL is embedded in the executable. */
import { sql } from "drizzle-orm";
import initial from "../../migrations/0000_initial.sql" with { type: "text" };
import refunds from "../../migrations/0001_refunds.sql" with { type: "text" };
import turnsAndStrategy from "../../migrations/0002_turns_and_strategy.sql" with { type: "text" };
import limits from "../../migrations/0003_limits.sql" with { type: "text" };
import queueByUser from "../../migrations/0004_queue_by_user.sql" with { type: "text" };
import accounts from "../../migrations/0005_accounts.sql" with { type: "text" };
import accountPurge from "../../migrations/0006_account_purge.sql" with { type: "text" };
import dashboardFamily from "../../migrations/0007_dashboard_family.sql" with { type: "text" };
import liveEvents from "../../migrations/0008_live_events.sql" with { type: "text" };
import drafts from "../../migrations/0009_drafts.sql" with { type: "text" };
import hiddenPipelines from "../../migrations/0010_hidden_pipelines.sql" with { type: "text" };
import webhookStates from "../../migrations/0011_webhook_states.sql" with { type: "text" };
import jobEnds from "../../migrations/0012_job_ends.sql" with { type: "text" };
import openPipelines from "../../migrations/0013_open_pipelines.sql" with { type: "text" };
import workers from "../../migrations/0014_workers.sql" with { type: "text" };
import type { Queries, Store } from "./db";

/** In order. The name of a released migration never changes. */
const MIGRATIONS: { name: string; sql: string }[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_refunds", sql: refunds },
  { name: "0002_turns_and_strategy", sql: turnsAndStrategy },
  { name: "0003_limits", sql: limits },
  { name: "0004_queue_by_user", sql: queueByUser },
  { name: "0005_accounts", sql: accounts },
  { name: "0006_account_purge", sql: accountPurge },
  { name: "0007_dashboard_family", sql: dashboardFamily },
  { name: "0008_live_events", sql: liveEvents },
  { name: "0009_drafts", sql: drafts },
  { name: "0010_hidden_pipelines", sql: hiddenPipelines },
  { name: "0011_webhook_states", sql: webhookStates },
  { name: "0012_job_ends", sql: jobEnds },
  { name: "0013_open_pipelines", sql: openPipelines },
  { name: "0014_workers", sql: workers },
];

/** Runs the missing migrations in one transaction. Throws if the database has unknown ones: an old version must not write to it. */
export async function migrate(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY NOT NULL, run_at integer NOT NULL)`);
    const seen = await listAppliedMigrations(tx);
    const unknown = [...seen].find((name) => !MIGRATIONS.some((m) => m.name === name));
    if (unknown)
      throw new Error(
        `Database has migration "${unknown}", which this version does not have: run a newer version of offcut.`,
      );
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
