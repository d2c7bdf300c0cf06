/** Migrates the database's schema to this version. The SQL is embedded in the executable. */
import { sql } from "drizzle-orm";
import type { Store } from "./db";
import { readMigrations } from "./read-migrations" with { type: "macro" };

/** Migrations in order. The name of a released migration never changes. */
const MIGRATIONS = readMigrations();

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
