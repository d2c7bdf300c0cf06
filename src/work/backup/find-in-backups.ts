/**
 * Finds single files in backups: the newest backup determines the right content, and any backup may have a lost file.
 */
import { basename, join } from "node:path";
import { type StoredFile, storeCopy } from "../../blobs/backup-files";
import type { BackupFile } from "../../domain/backup";
import { isOffsite } from "../../domain/offsite";
import { flushFile } from "../../lib/atomic-file";
import { type FolderBackup, listFolderBackups } from "./backup-manifest";
import type { BackupNeeds } from "./backups";
import { listOffsiteBackups, type OffsiteBackup } from "./offsite/offsite-backup";
import { type OffsiteAccess, requireOffsite } from "./offsite/repository";

/** The newest backup's entry for each file. */
export type BackupCatalog = { find(path: string): BackupFile | null };

/** A file of a backup. `backup`: its name. */
export type FileInBackup = {
  backup: string;
  file: BackupFile;
  /**
   * Copies the file to a new path and flushes it. Errors: those of `storeCopy`; an `Error` when the content is not that
   * of the backup.
   */
  copyTo(path: string, signal: AbortSignal): Promise<StoredFile>;
};

/**
 * Returns the backups of the setting `backup_to`; null without the setting. Errors of `find`: those of
 * `openRepository`.
 */
export function openFileSource(target: string | null, offsite: OffsiteAccess | undefined, signal: AbortSignal) {
  if (target === null) return null;
  return {
    /** Lists the backups with the wanted version of the file, newest first. */
    find: (path: string, isWanted: (file: BackupFile) => boolean) =>
      isOffsite(target)
        ? findIn(listOffsiteBackups(target, requireOffsite(offsite), signal), copyFromBucket, path, isWanted)
        : findIn(listFolderBackups(target), copyFromFolder, path, isWanted),
  };
}

/**
 * Reads the manifest of the newest backup, which takes two requests to a bucket. The catalog is empty without a backup,
 * and while its place is offline.
 */
export async function openBackupCatalog({ backups, config: { backupTo }, now }: BackupNeeds): Promise<BackupCatalog> {
  const newest = backupTo === null ? null : await backups.findNewest(backupTo, now()).catch(() => null);
  const files = new Map(newest?.manifest.files.map((file) => [file.path, file]));
  return { find: (path) => files.get(path) ?? null };
}

async function* findIn<T extends Pick<FolderBackup, "path" | "manifest">>(
  backups: AsyncIterable<T>,
  copy: (backup: T, file: BackupFile) => FileInBackup["copyTo"],
  path: string,
  isWanted: (file: BackupFile) => boolean,
): AsyncGenerator<FileInBackup> {
  for await (const backup of backups) {
    const file = backup.manifest.files.find((each) => each.path === path && isWanted(each));
    if (file !== undefined) yield { backup: basename(backup.path), file, copyTo: copy(backup, file) };
  }
}

const copyFromFolder =
  (backup: FolderBackup, { path, sha256 }: BackupFile): FileInBackup["copyTo"] =>
  async (to, signal) => {
    const from = join(backup.path, path);
    const stored = await storeCopy(from, to, signal);
    if (stored.sha256 !== sha256) throw new Error(`${from} is damaged.`);
    return stored;
  };

const copyFromBucket =
  ({ copyFile }: OffsiteBackup, { path, bytes, sha256, modified_at }: BackupFile): FileInBackup["copyTo"] =>
  async (to, signal) => {
    const [damage] = await copyFile(path, to, signal);
    if (damage !== undefined) throw new Error(`${damage.path} ${damage.problem}.`);
    await flushFile(to);
    return { bytes, sha256, modified_at };
  };
