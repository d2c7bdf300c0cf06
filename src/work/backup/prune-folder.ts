/** Removes old backups from a folder. */
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { discardFolder } from "../../blobs/backup-files";
import { listNames } from "../../blobs/trash";
import { formatBackupName, parseBackupName, selectBackupsToPrune } from "../../domain/backup";
import { readBackup } from "./backup-folder";

/**
 * Removes old backups with media from a folder, and returns their names. Backups without a valid manifest and without media are not counted and not
 * removed. A removed one loses its name first, so that a crash leaves no incomplete backup.
 */
export async function pruneBackups(target: string, keep: { daily: number; weekly: number }): Promise<string[]> {
  const times: number[] = [];
  for (const name of await listNames(target)) {
    const time = parseBackupName(name);
    const backup = time === null ? null : await readBackup(join(target, name)).catch(() => null);
    if (time !== null && backup?.manifest.has_media) times.push(time);
  }
  const removed = selectBackupsToPrune(times, keep).map(formatBackupName);
  for (const name of removed) {
    const doomed = join(target, `.${name}.part`);
    await rename(join(target, name), doomed);
    await discardFolder(doomed);
  }
  return removed;
}
