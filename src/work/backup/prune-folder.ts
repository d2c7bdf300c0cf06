/** Removes old backups from a folder. */
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { discardFolder } from "../../blobs/backup-files";
import {
  formatBackupName,
  isOwnBackup,
  type PruneRule,
  parseBackupName,
  selectBackupsToPrune,
} from "../../domain/backup";
import { listFolderBackups } from "./backup-manifest";
import { readDamage } from "./damage";

/** `folderId`: the ID of the data folder. */
export type PruneOptions = { keep: PruneRule; folderId: string | null; now: number };

/**
 * Removes old backups with media from a folder, and returns their names. Backups without a valid manifest, without
 * media and of another data folder are neither counted nor removed; damaged ones are not counted. A backup is renamed
 * before its removal, so that a crash leaves no incomplete backup.
 */
export async function pruneBackups(target: string, { keep, folderId, now }: PruneOptions): Promise<string[]> {
  const times: Record<"good" | "damaged", number[]> = { good: [], damaged: [] };
  for await (const backup of listFolderBackups(target)) {
    const { name, manifest } = backup;
    if (!manifest.has_media || !isOwnBackup(manifest, folderId)) continue;
    times[(await readDamage(backup)).size === 0 ? "good" : "damaged"].push(parseBackupName(name)!);
  }
  const removed = selectBackupsToPrune(times.good, keep, now, times.damaged).map(formatBackupName);
  for (const name of removed) {
    const doomed = join(target, `.${name}.part`);
    await rename(join(target, name), doomed);
    await discardFolder(doomed);
  }
  return removed;
}
