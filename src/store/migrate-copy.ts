/**
 * Migrates a copy of a database. The database itself is opened with `bun:sqlite` alone, which closes deterministically: a connection of the driver
 * lives until its statements are collected, and when it ends then, it deletes the log of the file that has the name by that time.
 */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { copyDatabase, findDatabaseProblems } from "./database-file";
import { openStore } from "./db";
import { listMissingMigrations, migrate } from "./migrate";

const DRAFT_SUFFIX = ".migrating";
const RESULT_SUFFIX = ".migrated";
const SIDE_SUFFIXES = ["", "-wal", "-shm", "-journal"];

/** Tables whose rows no migration may add or remove, and figures that it may not change. */
const FIGURES = {
  accounts: "SELECT count(*) FROM users",
  "API keys": "SELECT count(*) FROM api_keys",
  projects: "SELECT count(*) FROM projects",
  recordings: "SELECT count(*) FROM assets",
  cuts: "SELECT count(*) FROM cuts",
  renders: "SELECT count(*) FROM renders",
  "webhook endpoints": "SELECT count(*) FROM webhook_endpoints",
  "ledger entries": "SELECT count(*) FROM ledger",
  credits: "SELECT total(delta) FROM ledger",
  holds: "SELECT total(amount) FROM holds",
};

/**
 * Returns the names of the migrations that the database at `path` lacks; null if there is no database yet. Writes the log into the file. Throws
 * `UnknownMigrationError` for a database of a newer version.
 */
export function readMissingMigrations(path: string): string[] | null {
  if (!existsSync(path)) return null;
  return withDatabase(path, (database) => {
    database.run("PRAGMA busy_timeout=5000");
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const hasTable = database.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'").get();
    if (hasTable === null) return null;
    const names = database.query("SELECT name FROM migrations").values() as [string][];
    return listMissingMigrations(names.map(([name]) => name));
  });
}

/** Writes a migrated and checked copy of the database at `path`, and returns where it is. Throws an `Error` with what is wrong with it. */
export async function migrateCopy(path: string): Promise<string> {
  await discardCopies(path);
  const draft = path + DRAFT_SUFFIX;
  const result = path + RESULT_SUFFIX;
  withDatabase(path, (database) => database.query("VACUUM INTO ?").run(draft));
  const before = readFigures(draft);
  const store = await openStore(draft);
  try {
    await migrate(store);
  } finally {
    await store.close();
  }
  // A file that no connection has open.
  await copyDatabase(draft, result);
  await discard(draft);
  const [problem] = await findDatabaseProblems(result);
  if (problem !== undefined) throw new Error(`The migrated copy is damaged: ${problem}`);
  const after = readFigures(result);
  for (const [name, count] of Object.entries(before))
    if (after[name] !== count) throw new Error(`The migrated copy has ${after[name]} ${name}, expected ${count}.`);
  return result;
}

/** Removes what an earlier migration has left behind. */
export async function discardCopies(path: string): Promise<void> {
  for (const copy of [path + DRAFT_SUFFIX, path + RESULT_SUFFIX]) await discard(copy);
}

async function discard(path: string): Promise<void> {
  for (const suffix of SIDE_SUFFIXES) await rm(path + suffix, { force: true });
}

function readFigures(path: string): Record<string, number> {
  return withDatabase(path, (database) =>
    Object.fromEntries(
      Object.entries(FIGURES).map(([name, query]) => [name, (database.query(query).values()[0] as [number])[0]]),
    ),
  );
}

function withDatabase<T>(path: string, read: (database: Database) => T): T {
  const database = new Database(path, { readwrite: true, create: false });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
