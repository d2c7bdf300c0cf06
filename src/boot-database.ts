/**
 * Opens the database of a data folder. A database of an older version is migrated as a copy, which replaces it by
 * renaming when it is complete and checked: a migration that fails or is killed changes nothing. The older file is kept
 * for 14 days, to go back.
 */
import { existsSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { version } from "../package.json";
import { linkOrCopy } from "./blobs/backup-files";
import { ConfigError } from "./config";
import { DATABASE_NAME } from "./domain/backup";
import { renameDurably, writeAtomic } from "./lib/atomic-file";
import { findFileSize } from "./lib/file-size";
import { toFullDiskError } from "./media-folder";
import { formatDatabaseDamage, isDamage } from "./store/database-file";
import { openStore, type Store } from "./store/db";
import { findKeptDatabase, formatKeptName, listLosses } from "./store/kept-databases";
import { listMissing, migrate, NEWEST_MIGRATION, UnknownMigrationError } from "./store/migrate";
import {
  discardCopies,
  discardLog,
  migrateCopy,
  readMissingMigrations,
  readNewestMigration,
  type StepListener,
} from "./store/migrate-copy";
import { requireSpace } from "./work/backup/space";

/** The file that records the version that last opened the database, its newest migration, and the database's file. */
const VERSION_NAME = "version.json";

/** Space that a migration needs, in sizes of the database: one that rebuilds all tables was measured at 2.9. */
export const MIGRATION_SPACE = 3;

/** `busyMs`: maximum time to wait for another program that reads the database. */
export type OpenDatabaseOptions = { now?: number; onStep?: StepListener; busyMs?: number | undefined };

/** Opens the database in `folder`, migrated to this version. Throws `ConfigError`. */
export async function openDatabase(
  folder: string,
  { now = Date.now(), onStep = () => {}, busyMs }: OpenDatabaseOptions = {},
): Promise<Store> {
  const path = join(folder, DATABASE_NAME);
  try {
    const recorded = await readVersion(folder);
    await discardCopies(path);
    if (recorded !== null) await requireOwnLog(path, recorded);
    const missing = (await isCurrent(recorded, path)) ? [] : await readMissingMigrations(path, busyMs);
    if (missing === null && recorded !== null) throw new Error(await describeLost(folder));
    if (missing !== null && missing.length > 0) await replaceByMigrated(folder, missing.at(-1)!, { now, onStep });
    const store = await openStore(path);
    if (missing === null) await migrate(store);
    else if ((await listMissing(store)).length > 0) {
      // An older file was copied over the current one. The next start migrates a copy of it.
      await rm(join(folder, VERSION_NAME));
      throw new Error("An older database has replaced it. Start Offcut again to migrate it.");
    }
    await recordVersion(folder, path);
    return store;
  } catch (error) {
    await discardCopies(path);
    const failure = toFullDiskError(error, folder);
    if (failure instanceof ConfigError) throw failure;
    throw new ConfigError(`cannot open the database ${path}: ${await describeRefusal(folder, error)}`);
  }
}

async function describeRefusal(folder: string, error: unknown): Promise<string> {
  if (error instanceof UnknownMigrationError) return describeNewer(folder, error.migration);
  const { cause, message } = error as Error;
  if (isDamage(error)) return formatDatabaseDamage(message);
  return isDamage(cause) ? formatDatabaseDamage((cause as Error).message) : message;
}

type MigrationOptions = { now: number; onStep: StepListener };

async function replaceByMigrated(folder: string, newest: string, { now, onStep }: MigrationOptions): Promise<void> {
  const path = join(folder, DATABASE_NAME);
  await requireSpace(folder, MIGRATION_SPACE * ((await findFileSize(path)) ?? 0));
  const migrated = await migrateCopy(path, onStep);
  await onStep("keep");
  await linkOrCopy(path, join(folder, formatKeptName("before", newest, now)));
  await onStep("record");
  // Before the swap: an older version that starts after a kill names this one.
  await recordVersion(folder, migrated);
  await onStep("swap");
  // The log of the old file must not be applied to the new one. It is empty: everything is in the file.
  await discardLog(path);
  await renameDurably(migrated, path);
  await onStep("finish");
}

type RecordedVersion = { version?: unknown; schema?: unknown; inode?: unknown };

/** Returns null when no version has opened a database in the folder. */
async function readVersion(folder: string): Promise<RecordedVersion | null> {
  const file = Bun.file(join(folder, VERSION_NAME));
  if (!(await file.exists())) return null;
  const found: unknown = await file.json().catch(() => null);
  return typeof found === "object" && found !== null ? found : {};
}

/** Returns whether this version migrated the file, which a backup or an older one may have replaced. */
async function isCurrent(recorded: RecordedVersion | null, path: string): Promise<boolean> {
  if (recorded?.schema !== NEWEST_MIGRATION || !existsSync(path)) return false;
  const { ino, size } = await stat(path);
  return ino === recorded.inode && size > 0;
}

/** Throws an `Error` if the log belongs to another file, which was replaced: SQLite would apply it. */
async function requireOwnLog(path: string, { schema }: RecordedVersion): Promise<void> {
  const log = `${path}-wal`;
  if (((await findFileSize(log)) ?? 0) === 0 || !existsSync(path)) return;
  const newest = readNewestMigration(path);
  if (newest !== null && newest !== schema)
    throw new Error(
      `It has been replaced, but ${DATABASE_NAME}-wal is the log of the file that was there before. Move ${DATABASE_NAME}-wal and ${DATABASE_NAME}-shm away.`,
    );
}

async function recordVersion(folder: string, path: string): Promise<void> {
  const recorded = { version, schema: NEWEST_MIGRATION, inode: (await stat(path)).ino };
  if (Bun.deepEquals(await readVersion(folder), recorded)) return;
  await writeAtomic(join(folder, VERSION_NAME), `${JSON.stringify(recorded)}\n`);
}

/** Describes a missing or empty database: with a new one, all files of the folder would be orphaned. */
async function describeLost(folder: string): Promise<string> {
  const kept = await findKeptDatabase(folder);
  return [
    `It is missing or empty, but ${VERSION_NAME} says that this folder had one.`,
    "Restore a backup with offcut restore.",
    ...(kept === null ? [] : [`${kept.name} has the state of ${kept.day}.`]),
    `To start without data, remove ${VERSION_NAME}.`,
  ].join(" ");
}

/**
 * Returns the message for a database of a newer version: why it is refused, how to go back, and what is lost by going
 * back.
 */
async function describeNewer(folder: string, migration: string): Promise<string> {
  const recorded = await readVersion(folder);
  const hasOther = typeof recorded?.version === "string" && recorded.version !== version;
  const newer = hasOther ? `Offcut ${recorded.version}` : "A newer build of Offcut";
  const kept = await findKeptDatabase(folder);
  return [
    `${newer} has migrated it. Offcut ${version} does not have migration "${migration}". Run the newer version.`,
    kept === null
      ? "To go back, restore a backup that this version has written."
      : `To go back, move ${DATABASE_NAME} away and rename ${kept.name} to ${DATABASE_NAME}: everything since ${kept.day} is lost${describeLosses(folder, kept.name)}.`,
  ].join(" ");
}

function describeLosses(folder: string, kept: string): string {
  try {
    const losses = listLosses(join(folder, DATABASE_NAME), join(folder, kept));
    return losses.length === 0 ? "" : `, among it ${losses.join(", ")}`;
  } catch {
    // The newer version may have changed its tables.
    return "";
  }
}
