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
import signInNetworks from "../../migrations/0015_sign_in_networks.sql" with { type: "text" };
import exactFrameRates from "../../migrations/0016_exact_frame_rates.sql" with { type: "text" };
import workspaceInvitations from "../../migrations/0017_workspace_invitations.sql" with { type: "text" };
import textStorage from "../../migrations/0018_text_storage.sql" with { type: "text" };
import renderShares from "../../migrations/0019_render_shares.sql" with { type: "text" };
import backupRuns from "../../migrations/0020_backup_runs.sql" with { type: "text" };
import fileChecks from "../../migrations/0021_file_checks.sql" with { type: "text" };
import alerts from "../../migrations/0022_alerts.sql" with { type: "text" };
import accountsRevision from "../../migrations/0023_accounts_revision.sql" with { type: "text" };
import type { Store } from "./db";

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
  { name: "0015_sign_in_networks", sql: signInNetworks },
  { name: "0016_exact_frame_rates", sql: exactFrameRates },
  { name: "0017_workspace_invitations", sql: workspaceInvitations },
  { name: "0018_text_storage", sql: textStorage },
  { name: "0019_render_shares", sql: renderShares },
  { name: "0020_backup_runs", sql: backupRuns },
  { name: "0021_file_checks", sql: fileChecks },
  { name: "0022_alerts", sql: alerts },
  { name: "0023_accounts_revision", sql: accountsRevision },
];

/** The schema of this version. */
export const NEWEST_MIGRATION = MIGRATIONS.at(-1)!.name;

/** Returns whether this version has a migration. A database with an unknown one belongs to a newer version. */
export const isKnownMigration = (name: string): boolean => MIGRATIONS.some((migration) => migration.name === name);

/** Thrown when a newer version has migrated the database, to which this one must not write. */
export class UnknownMigrationError extends Error {
  constructor(readonly migration: string) {
    super(`Database has migration "${migration}", which this version does not have. Run a newer version of offcut.`);
  }
}

/** Returns the names of the migrations that are not among `applied`, in order. Throws `UnknownMigrationError`. */
export function listMissingMigrations(applied: readonly string[]): string[] {
  const unknown = applied.find((name) => !isKnownMigration(name));
  if (unknown !== undefined) throw new UnknownMigrationError(unknown);
  return MIGRATIONS.map(({ name }) => name).filter((name) => !applied.includes(name));
}

/** Runs the missing migrations in one transaction. Throws `UnknownMigrationError`. */
export async function migrate(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY NOT NULL, run_at integer NOT NULL)`);
    const missing = await listMissing({ read: tx });
    for (const migration of MIGRATIONS.filter(({ name }) => missing.includes(name))) {
      for (const statement of migration.sql.split("--> statement-breakpoint")) await tx.run(sql.raw(statement));
      await tx.run(sql`INSERT INTO migrations (name, run_at) VALUES (${migration.name}, ${Date.now()})`);
    }
  });
}

/** Returns the names of the migrations that an open database lacks. Throws `UnknownMigrationError`. */
export async function listMissing({ read }: Pick<Store, "read">): Promise<string[]> {
  const rows = await read.all<{ name: string }>(sql`SELECT name FROM migrations`);
  return listMissingMigrations(rows.map((row) => row.name));
}
