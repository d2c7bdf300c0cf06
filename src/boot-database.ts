/**
 * Opens the database of a data folder. A database of an older version is migrated as a copy, which replaces it by renaming when it is complete and
 * checked: a migration that fails or is killed changes nothing. The older file is kept for 14 days, to go back.
 */
import { link, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { version } from "../package.json";
import { listNames } from "./blobs/trash";
import { ConfigError } from "./config";
import { DATABASE_NAME } from "./domain/backup";
import { flushFile, writeAtomic } from "./lib/atomic-file";
import { findFileSize } from "./lib/file-size";
import { openStore, type Store } from "./store/db";
import { migrate, NEWEST_MIGRATION, UnknownMigrationError } from "./store/migrate";
import { discardCopies, migrateCopy, readMissingMigrations } from "./store/migrate-copy";
import { requireSpace } from "./work/backup/create-backup";

const KEPT_NAME = /^offcut-before-\w+-(\d{4}-\d{2}-\d{2})\.db$/;
const KEPT_MS = 14 * 24 * 3600 * 1000;
/** Names the version that opened the database last, and its newest migration. */
const VERSION_NAME = "version.json";

/** Opens the database in `folder`, migrated to this version. Throws `ConfigError`. */
export async function openDatabase(folder: string, now = Date.now()): Promise<Store> {
  const path = join(folder, DATABASE_NAME);
  try {
    const isCurrent = (await readVersion(folder)).schema === NEWEST_MIGRATION;
    await discardCopies(path);
    const missing = isCurrent ? [] : readMissingMigrations(path);
    if (missing !== null && missing.length > 0) await replaceByMigrated(folder, missing.at(-1)!, now);
    const store = await openStore(path);
    await migrate(store);
    await recordVersion(folder);
    await removeOldFiles(folder, now);
    return store;
  } catch (error) {
    await discardCopies(path);
    const reason =
      error instanceof UnknownMigrationError ? await describeNewer(folder, error.migration) : (error as Error).message;
    throw new ConfigError(`cannot open the database ${path}: ${reason}`);
  }
}

async function replaceByMigrated(folder: string, newest: string, now: number): Promise<void> {
  const path = join(folder, DATABASE_NAME);
  // The migrated copy, and the copy of it that replaces the database.
  await requireSpace(folder, 2 * ((await findFileSize(path)) ?? 0));
  const migrated = await migrateCopy(path);
  const kept = join(folder, `offcut-before-${newest}-${new Date(now).toISOString().slice(0, 10)}.db`);
  await rm(kept, { force: true });
  await link(path, kept);
  // The log of the old file must not be applied to the new one. It is empty: everything is in the file.
  for (const suffix of ["-wal", "-shm"]) await rm(path + suffix, { force: true });
  await rename(migrated, path);
  await flushFile(folder);
}

async function readVersion(folder: string): Promise<{ version?: unknown; schema?: unknown }> {
  const found: unknown = await Bun.file(join(folder, VERSION_NAME))
    .json()
    .catch(() => null);
  return typeof found === "object" && found !== null ? found : {};
}

async function recordVersion(folder: string): Promise<void> {
  const written = await readVersion(folder);
  if (written.version === version && written.schema === NEWEST_MIGRATION) return;
  await writeAtomic(join(folder, VERSION_NAME), `${JSON.stringify({ version, schema: NEWEST_MIGRATION })}\n`);
}

/** Says why a database of a newer version is refused, and how to go back. */
async function describeNewer(folder: string, migration: string): Promise<string> {
  const written = await readVersion(folder);
  const newer = typeof written.version === "string" ? `Offcut ${written.version}` : "a newer version of Offcut";
  const kept = (await listNames(folder))
    .filter((name) => KEPT_NAME.test(name))
    .sort((a, b) => (readDate(a) < readDate(b) ? -1 : 1));
  const way =
    kept.length === 0
      ? "To go back, restore a backup that this version has written."
      : `To go back, rename ${kept.at(-1)} to ${DATABASE_NAME}: everything since ${readDate(kept.at(-1)!)} is lost.`;
  return `${newer} has migrated it. Offcut ${version} does not have migration "${migration}". Run the newer version. ${way}`;
}

const readDate = (name: string): string => KEPT_NAME.exec(name)?.[1] ?? "";

async function removeOldFiles(folder: string, now: number): Promise<void> {
  for (const name of await listNames(folder))
    if (KEPT_NAME.test(name) && Date.parse(readDate(name)) < now - KEPT_MS) await rm(join(folder, name));
}
