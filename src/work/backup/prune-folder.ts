/** Removes old backups from a folder. */
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { discardFolder } from "../../blobs/backup-files";
import { listNames } from "../../blobs/trash";
import {
  formatBackupName,
  isOwnBackup,
  type PruneRule,
  parseBackupName,
  selectBackupsToPrune,
} from "../../domain/backup";
import { readManifest } from "./backup-manifest";
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
  for (const name of await listNames(target)) {
    const time = parseBackupName(name);
    const path = join(target, name);
    const manifest = time === null ? null : await readManifest(path).catch(() => null);
    if (time === null || !manifest?.has_media || !isOwnBackup(manifest, folderId)) continue;
    const damage = await readDamage({ path, manifest });
    times[damage.size === 0 ? "good" : "damaged"].push(time);
  }
  const removed = selectBackupsToPrune(times.good, keep, now, times.damaged).map(formatBackupName);
  for (const name of removed) {
    const doomed = join(target, `.${name}.part`);
    await rename(join(target, name), doomed);
    await discardFolder(doomed);
  }
  return removed;
}
