/** Removes old backups from a folder. */
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { discardFolder } from "../../blobs/backup-files";
import { listNames } from "../../blobs/trash";
import { formatBackupName, isOwnBackup, parseBackupName, selectBackupsToPrune } from "../../domain/backup";
import { readBackup } from "./backup-folder";

/** `folderId`: the ID of the data folder. */
export type PruneOptions = { keep: { daily: number; weekly: number }; folderId: string | null; now: number };

/**
 * Removes old backups with media from a folder, and returns their names. Backups without a valid manifest, without media and of another data folder
 * are not counted and not removed. A removed one loses its name first, so that a crash leaves no incomplete backup.
 */
export async function pruneBackups(target: string, { keep, folderId, now }: PruneOptions): Promise<string[]> {
  const times: number[] = [];
  for (const name of await listNames(target)) {
    const time = parseBackupName(name);
    const backup = time === null ? null : await readBackup(join(target, name)).catch(() => null);
    if (time !== null && backup?.manifest.has_media && isOwnBackup(backup.manifest, folderId)) times.push(time);
  }
  const removed = selectBackupsToPrune(times, keep, now).map(formatBackupName);
  for (const name of removed) {
    const doomed = join(target, `.${name}.part`);
    await rename(join(target, name), doomed);
    await discardFolder(doomed);
  }
  return removed;
}
