/** Restores the database that a newer version has migrated, for the older version. */
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { linkOrCopy } from "../../blobs/backup-files";
import { DATABASE_NAME } from "../../domain/backup";
import { flushFile } from "../../lib/atomic-file";
import { findKeptDatabase, formatKeptName } from "../../store/kept-databases";
import { UnknownMigrationError } from "../../store/migrate";
import { discardLog, readMissingMigrations, readNewestMigration } from "../../store/migrate-copy";

/** `kept`: the file that is the database again. `aside`: the name of the migrated one, which is kept as well. */
export type PutBackReport = { kept: string; aside: string };

/**
 * Puts the kept database of a folder back when a newer version has migrated the current one. Returns null when this version can open it as it is.
 * Needs the lock of the folder. After a kill one of the two is the database, whole. Throws an `Error` when there is no kept file.
 */
export async function putBackDatabase(folder: string, now: number): Promise<PutBackReport | null> {
  const path = join(folder, DATABASE_NAME);
  if (!existsSync(path)) return null;
  try {
    await readMissingMigrations(path);
    return null;
  } catch (error) {
    if (!(error instanceof UnknownMigrationError)) throw error;
    // An older one would lose more than what the newer version has written.
    const newest = readNewestMigration(path);
    const kept = newest === null ? null : await findKeptDatabase(folder, newest);
    if (kept === null) throw new Error(`The database that was migrated is not kept in ${folder}.`);
    const aside = formatKeptName("after", newest!, now);
    await linkOrCopy(path, join(folder, aside));
    // The log is empty: reading the migrations has written it into the file.
    await discardLog(path);
    await rename(join(folder, kept.name), path);
    await flushFile(folder);
    return { kept: kept.name, aside };
  }
}
