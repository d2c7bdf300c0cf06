/**
 * Migrates a copy of a database. The database itself is opened only with `bun:sqlite`, which closes deterministically:
 * a connection of the driver lives until its statements are garbage collected, and then deletes the log of whatever
 * file has the name by that time.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { findFileSize } from "../lib/file-size";
import { findChangedFigure, readFigures, withDatabase, withUnchangedDatabase } from "./database-figures";
import { copyDatabase, findDatabaseProblems } from "./database-file";
import { openStore } from "./db";
import { listMissingMigrations, migrate } from "./migrate";

const DRAFT_SUFFIX = ".migrating";
const RESULT_SUFFIX = ".migrated";
const LOG_SUFFIXES = ["-wal", "-shm", "-journal"];

/** The steps of a migration, in order. The new version may be killed in any of them. */
export const MIGRATION_STEPS = ["copy", "migrate", "compact", "check", "keep", "record", "swap", "finish"] as const;
export type MigrationStep = (typeof MIGRATION_STEPS)[number];

/** Called when a step begins. */
export type StepListener = (step: MigrationStep) => Promise<void> | void;

/**
 * Returns the names of the migrations that the database at `path` lacks; null if there is no database yet. Writes the
 * log into the file, waiting at most `busyMs` for it. Throws `UnknownMigrationError` for a database of a newer version,
 * and an `Error` when another program has it open.
 */
export async function readMissingMigrations(path: string, busyMs = 5_000): Promise<string[] | null> {
  if (!existsSync(path)) return null;
  const applied = withDatabase(path, (database) => {
    database.run(`PRAGMA busy_timeout=${busyMs}`);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const hasTable = database.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'").get();
    return hasTable === null ? null : (database.query("SELECT name FROM migrations").values() as [string][]).flat();
  });
  return applied === null ? null : listMissingMigrations(applied);
}

/** Returns the newest migration in the file at `path`, ignoring its log, or null. Changes nothing. */
export function readNewestMigration(path: string): string | null {
  try {
    return withUnchangedDatabase(path, (database) => {
      const [row] = database.query("SELECT max(name) FROM migrations").values() as [string | null][];
      return row?.[0] ?? null;
    });
  } catch {
    return null;
  }
}

/**
 * Writes a migrated and verified copy of the database at `path`, and returns its path. Throws an `Error` if the copy
 * has a problem, or if another program has the database open.
 */
export async function migrateCopy(path: string, onStep: StepListener): Promise<string> {
  await onStep("copy");
  const draft = path + DRAFT_SUFFIX;
  const result = path + RESULT_SUFFIX;
  withDatabase(path, (database) => database.query("VACUUM INTO ?").run(draft));
  const before = withUnchangedDatabase(draft, readFigures);
  await onStep("migrate");
  const store = await openStore(draft);
  try {
    await migrate(store);
    // Copying the draft needs the space of the log.
    await store.read.all(sql`PRAGMA wal_checkpoint(TRUNCATE)`);
  } finally {
    await store.close();
  }
  await onStep("compact");
  // A copy that no connection has open.
  await copyDatabase(draft, result);
  await discard(draft);
  await onStep("check");
  const [problem] = await findDatabaseProblems(result);
  if (problem !== undefined) throw new Error(`The migrated copy is damaged: ${problem}`);
  const change = findChangedFigure(before, withUnchangedDatabase(result, readFigures));
  if (change !== null) throw new Error(change);
  // The log would not be swapped, so data that is only in it would be lost.
  if (((await findFileSize(`${path}-wal`)) ?? 0) > 0)
    throw new Error("Another program has it open. End that program, then start Offcut again.");
  return result;
}

/** Removes the log of a database file. It is empty if no process has the file open. */
export async function discardLog(path: string): Promise<void> {
  for (const suffix of LOG_SUFFIXES) await rm(path + suffix, { force: true });
}

export async function discardCopies(path: string): Promise<void> {
  for (const copy of [path + DRAFT_SUFFIX, path + RESULT_SUFFIX]) await discard(copy);
}

async function discard(path: string): Promise<void> {
  await rm(path, { force: true });
  await discardLog(path);
}
