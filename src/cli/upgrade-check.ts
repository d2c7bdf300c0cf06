/** Checks an upgrade: this version migrates a copy of the database while a running server keeps serving. */
import { existsSync, rmSync } from "node:fs";
import { copyFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { version } from "../../package.json";
import { MIGRATION_SPACE, openDatabase } from "../boot-database";
import type { Config } from "../config";
import { requireFolderLock } from "../data-folder";
import { DATABASE_NAME } from "../domain/backup";
import { formatBytes } from "../domain/bytes";
import { measureAssets, openAssets } from "../lib/assets";
import { getFreeBytes } from "../lib/disk-reserve";
import { findFileSize } from "../lib/file-size";
import { NEWEST_MIGRATION, UnknownMigrationError } from "../store/migrate";
import { readMissingMigrations } from "../store/migrate-copy";
import { requireSpace } from "../work/backup/space";
import { becomeOwner, createCheckFolder } from "../work/upgrade/check-folder";
import { runInServerOr } from "./admin";
import { INTERRUPTED_EXIT_CODE } from "./options";

/**
 * `migrations`: those that the database lacks, or null. `needed_bytes`: disk space that the start of this version needs
 * for them.
 */
export type CheckReport = {
  version: string;
  schema: string;
  migrations: string[] | null;
  database_bytes: number;
  needed_bytes: number;
  free_bytes: number;
  duration_ms: number;
};

const LOG_NAME = `${DATABASE_NAME}-wal`;

/** Migrates a copy of the database and removes the copy. Throws an `Error` with the obstacle to an upgrade. */
export async function checkUpgrade(config: Config): Promise<CheckReport> {
  const dataDir = resolve(config.dataDir);
  const started = performance.now();
  const report = { version, schema: NEWEST_MIGRATION, migrations: null, database_bytes: 0, needed_bytes: 0 };
  if (!(await hasDatabase(dataDir))) return { ...report, free_bytes: 0, duration_ms: 0 };
  becomeOwner(dataDir);
  const bytes = (await measure(dataDir, DATABASE_NAME)) + (await measure(dataDir, LOG_NAME));
  await requireSpace(dataDir, (1 + MIGRATION_SPACE) * bytes + measureAssets());
  const name = await createCheckFolder(dataDir);
  const scratch = join(dataDir, name);
  const discard = () => rmSync(scratch, { recursive: true, force: true });
  const interrupt = () => {
    discard();
    process.exit(INTERRUPTED_EXIT_CODE);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, interrupt);
  try {
    await copyLive(dataDir, name);
    const migrations = await listMigrations(join(scratch, DATABASE_NAME));
    // The database driver is one of the assets.
    await openAssets({ dataDir: scratch });
    await (await openDatabase(scratch)).close();
    return {
      ...report,
      migrations,
      database_bytes: bytes,
      needed_bytes: migrations.length === 0 ? 0 : MIGRATION_SPACE * bytes,
      free_bytes: getFreeBytes(dataDir),
      duration_ms: Math.round(performance.now() - started),
    };
  } finally {
    discard();
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.removeListener(signal, interrupt);
  }
}

/** Throws an `Error` if the folder belongs to another user. */
async function hasDatabase(dataDir: string): Promise<boolean> {
  try {
    return (await stat(join(dataDir, DATABASE_NAME))).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw new Error(`Cannot read ${dataDir}: ${(error as Error).message}. Run offcut as the owner of the folder.`);
  }
}

const measure = async (folder: string, name: string): Promise<number> => (await findFileSize(join(folder, name))) ?? 0;

/**
 * Copies the live database to the folder `name`. A running server does it, because no other process may open its file.
 */
const copyLive = (dataDir: string, name: string): Promise<unknown> =>
  runInServerOr(dataDir, "database copy", { folder: name }, async () => {
    using _lock = requireFolderLock(dataDir);
    for (const file of [DATABASE_NAME, LOG_NAME])
      if (existsSync(join(dataDir, file))) await copyFile(join(dataDir, file), join(dataDir, name, file));
  });

async function listMigrations(path: string): Promise<string[]> {
  try {
    return (await readMissingMigrations(path)) ?? [];
  } catch (error) {
    if (!(error instanceof UnknownMigrationError)) throw error;
    throw new Error(`Offcut ${version} is older than the database: it does not have migration "${error.migration}".`);
  }
}

export function formatCheck({ version, migrations, ...report }: CheckReport): string {
  if (migrations === null) return `Offcut ${version}: there is no database to migrate.\n`;
  const seconds = (report.duration_ms / 1000).toFixed(1);
  const count = `${migrations.length} ${migrations.length === 1 ? "migration" : "migrations"}`;
  return migrations.length === 0
    ? `Offcut ${version} opened a copy of the database in ${seconds} s. It needs no migration.\n`
    : `Offcut ${version} migrated a copy of the database (${formatBytes(report.database_bytes)}, ${count}) in ${seconds} s. Its first start needs ${formatBytes(report.needed_bytes)}, has ${formatBytes(report.free_bytes)} free.\n`;
}
