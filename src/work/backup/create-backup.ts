/**
 * Writes a backup to a folder or a bucket: a copy of the database first, then the files in it, which stay readable
 * until the backup is complete. The manifest is written last.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { version } from "../../../package.json";
import type { Folders } from "../../blobs/folders";
import { holdTrash } from "../../blobs/trash";
import { DATABASE_NAME, SECRETS_NAME, sumBytes } from "../../domain/backup";
import { AppError } from "../../domain/errors";
import { isOffsite } from "../../domain/offsite";
import type { MountTables } from "../../lib/file-systems";
import { findDatabaseProblems, readDatabaseContents } from "../../store/database-file";
import type { Store } from "../../store/db";
import type { StoredFiles } from "./backup-writer";
import { type FoundFile, findFiles } from "./find-files";
import { readFolderId } from "./folder-id";
import { openFolderWriter } from "./folder-writer";
import { openOffsiteWriter } from "./offsite/offsite-writer";
import type { OffsiteAccess } from "./offsite/repository";

/** Without `offsite`, backups are written to folders only. Tests replace `readMounts`. */
export type BackupSource = {
  store: Store;
  folders: Folders;
  now: () => number;
  offsite?: OffsiteAccess;
  readMounts?: () => MountTables;
};

/**
 * Counts files and bytes of a backup, with the database. In a bucket, `linked_files` were there already, and
 * `copied_files` were sent.
 */
export type BackupReport = Omit<StoredFiles, "stored"> & {
  path: string;
  files: number;
  bytes: number;
  duration_ms: number;
};

/**
 * Writes a backup to `target/offcut-<time>` and verifies what it has written. `target` is a folder or an `s3://` URL.
 * Errors: those of the writer; `AppError` `storage_full` when it does not fit, `upstream_unavailable` while a folder is
 * offline, `internal_error` when the database is damaged; file system errors; the signal's reason.
 */
export async function createBackup(
  source: BackupSource,
  { target, hasMedia }: { target: string; hasMedia: boolean },
  signal: AbortSignal,
): Promise<BackupReport> {
  const { folders, offsite } = source;
  const started = performance.now();
  const now = source.now();
  // Files of an unmounted folder would count as missing.
  await requireOnline(folders);
  const writer = isOffsite(target)
    ? await openOffsiteWriter(target, { folders, offsite, now }, signal)
    : await openFolderWriter(target, { source, hasMedia, now }, signal);
  const hold = holdTrash(folders);
  try {
    await writer.requireRoom(hold);
    const database = join(writer.scratch, DATABASE_NAME);
    await source.store.copyTo(database);
    const [problem] = await findDatabaseProblems(database);
    if (problem !== undefined) throw new AppError("internal_error", `The database is damaged: ${problem}`);
    const contents = await readDatabaseContents(database);
    const found = hasMedia ? await findFiles(folders, hold, contents) : { files: [], missing: [] };
    const essential = [
      await describe(DATABASE_NAME, database),
      await describe(SECRETS_NAME, join(folders.root, SECRETS_NAME)),
    ];
    const { stored, ...counts } = await writer.store([...essential, ...found.files], hold);
    const missing = [...found.missing, ...counts.missing];
    const folderId = await readFolderId(folders.root);
    await requireOnline(folders);
    const notes = await writer.complete({
      format: 1,
      created_at: new Date(writer.createdAt).toISOString(),
      version,
      schema: contents.migrations.at(-1) ?? "",
      has_media: hasMedia,
      files: stored,
      missing,
      balances: contents.balances,
      ...(folderId === null ? {} : { folder_id: folderId }),
    });
    return {
      path: writer.path,
      files: stored.length,
      bytes: sumBytes(stored),
      ...counts,
      notes: [...counts.notes, ...notes],
      missing,
      duration_ms: Math.round(performance.now() - started),
    };
  } catch (error) {
    await writer.discard();
    throw error;
  } finally {
    await hold.release();
    await writer.release();
  }
}

async function describe(path: string, from: string): Promise<FoundFile> {
  const { size, mtimeMs } = await stat(from);
  return { path, from, bytes: size, modified_at: Math.round(mtimeMs) };
}

/**
 * Throws `upstream_unavailable` when a folder is offline. Only administrators make and restore backups, so the error
 * names the folder.
 */
export async function requireOnline({ guard }: Folders): Promise<void> {
  const problem = await guard.check();
  if (problem !== null) throw new AppError("upstream_unavailable", `The ${problem.about}.`);
}
