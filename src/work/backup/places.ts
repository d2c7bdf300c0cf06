/** The places of backups: folders and buckets. A path that begins with `s3:` is that of a bucket. */
import type { Folders } from "../../blobs/folders";
import { AppError } from "../../domain/errors";
import { isOffsite } from "../../domain/offsite";
import { createRecoveryKey } from "../../lib/recovery-key";
import { type Backup, findNewestBackup, readBackup } from "./backup-folder";
import { findDrillBackup } from "./drill";
import { openOffsiteBackup } from "./offsite/offsite-backup";
import { pruneOffsite } from "./offsite/prune";
import { type OffsiteAccess, requireOffsite } from "./offsite/repository";
import { pruneBackups } from "./prune-folder";

/** Errors of all calls: those of the file system or of `openRepository`; the signal's reason. */
export type BackupPlaces = {
  /** Opens a backup; in a bucket, a place stands for its newest backup. Errors: `bad_request` or `not_found` when there is none. */
  open(path: string, signal: AbortSignal): Promise<Backup>;
  /** Opens the backup of a drill: `path` itself, or the newest one with media in it. Errors: `bad_request` when there is none. */
  openForDrill(path: string, signal: AbortSignal): Promise<Backup>;
  /** Returns the newest backup with media in a place that was made until `until`, or null. */
  findNewest(target: string, until: number, signal: AbortSignal): Promise<Backup | null>;
  /** Removes old backups with media from a place and returns their names. */
  prune(target: string, keep: { daily: number; weekly: number }, signal: AbortSignal): Promise<string[]>;
  /** Creates the recovery key of off-site backups and returns it; null when there is one. */
  createRecoveryKey(): Promise<string | null>;
};

/** Creates the places of a data folder's backups. Without `offsite`, they are folders only. */
export function createBackupPlaces({ folders, offsite }: { folders: Folders; offsite?: OffsiteAccess }): BackupPlaces {
  return {
    open: async (path, signal) => {
      if (!isOffsite(path)) return readBackup(path);
      const backup = await openOffsiteBackup(path, requireOffsite(offsite), { signal });
      if (backup === null) throw new AppError("not_found", `There is no backup at ${path}.`);
      return backup;
    },
    openForDrill: async (path, signal) => {
      if (!isOffsite(path)) return findDrillBackup(path);
      const backup = await openOffsiteBackup(path, requireOffsite(offsite), { hasMedia: true, signal });
      if (backup === null) throw new AppError("bad_request", `${path} has no backup with media.`);
      return backup;
    },
    findNewest: (target, until, signal) =>
      isOffsite(target)
        ? openOffsiteBackup(target, requireOffsite(offsite), { until, hasMedia: true, signal })
        : findNewestBackup(target, { until, hasMedia: true }),
    prune: (target, keep, signal) =>
      isOffsite(target)
        ? pruneOffsite(target, requireOffsite(offsite), { folders, keep, signal })
        : pruneBackups(target, keep),
    createRecoveryKey: async () => {
      const access = requireOffsite(offsite);
      if (access.recoveryKey() !== null) return null;
      const key = createRecoveryKey();
      await access.saveRecoveryKey(key);
      return key;
    },
  };
}
