/** The places of backups: folders and buckets. A URL is that of a bucket. */
import { resolve } from "node:path";
import type { Folders } from "../../blobs/folders";
import { isOwnBackup } from "../../domain/backup";
import { AppError, badRequest } from "../../domain/errors";
import { isInside } from "../../domain/media-folder";
import { isOffsite } from "../../domain/offsite";
import type { MountTables } from "../../lib/file-systems";
import { createRecoveryKey } from "../../lib/recovery-key";
import type { BucketTiming } from "../../outbound/s3";
import { type FindOptions, findNewestBackup, isBackup, readBackup } from "./backup-folder";
import { readFolderId } from "./folder-id";
import { requireUsableFolder } from "./folder-target";
import { openOffsiteBackup } from "./offsite/offsite-backup";
import { type OffsiteAccess, openRepository, requireOffsite } from "./offsite/repository";
import { pruneBackups, pruneOffsite } from "./prune";

/** Returns whether a path is that of a place, or of a backup in it. */
export const isInPlace = (path: string, place: string): boolean =>
  isOffsite(place) ? isInside(path, place.replace(/\/$/, "")) : isInside(resolve(path), resolve(place));

/** Timeout for a bucket that is only checked. */
const MAX_LOOK_MS = 10_000;
const LOOK_TIMING: BucketTiming = { requestMs: 5_000, idleMs: 5_000, delayMs: 100, attempts: 1 };

/** Tests replace `readMounts`. */
type PlacesSource = { folders: Folders; now(): number; offsite?: OffsiteAccess; readMounts?: () => MountTables };

/**
 * Creates the places of a data folder's backups. Without `offsite`, they are folders only. Errors of all calls: those
 * of the file system or of `openRepository`; the signal's reason.
 */
export function createBackupPlaces({ folders, now, offsite, readMounts }: PlacesSource) {
  /** Returns the backup at `path`, or the newest one in a place. */
  const find = async (path: string, options: FindOptions & { signal: AbortSignal }) => {
    if (isOffsite(path)) return openOffsiteBackup(path, requireOffsite(offsite), options);
    return (await isBackup(path)) ? readBackup(path) : findNewestBackup(path, options);
  };

  return {
    /**
     * Opens a backup; in a bucket, a place stands for its newest backup. Errors: `bad_request`, or `not_found` if the
     * backup does not exist.
     */
    open: async (path: string, signal: AbortSignal) => {
      if (!isOffsite(path)) return readBackup(path);
      const backup = await find(path, { signal });
      if (backup === null) throw new AppError("not_found", `There is no backup at ${path}.`);
      return backup;
    },
    /**
     * Opens the backup of a drill: `path` itself, or the newest one with media in it. Errors: `bad_request` if no
     * backup has media.
     */
    openForDrill: async (path: string, signal: AbortSignal) => {
      const backup = await find(path, { hasMedia: true, signal });
      if (backup === null) throw badRequest(`${path} has no backup with media.`);
      return backup;
    },
    /**
     * Returns the newest backup with media in a place that was made until `until`; null without one, and when it is
     * that of another data folder.
     */
    findNewest: async (target: string, until: number, signal: AbortSignal) => {
      const options = { until, hasMedia: true };
      // A target that is a backup itself may have others in it.
      const newest = isOffsite(target)
        ? await find(target, { ...options, signal })
        : await findNewestBackup(target, options);
      return newest !== null && isOwnBackup(newest.manifest, await readFolderId(folders.root)) ? newest : null;
    },
    /** Removes old backups with media from a place and returns their names. */
    prune: async (target: string, keep: { daily: number; weekly: number }, signal: AbortSignal) => {
      const options = { keep, folderId: await readFolderId(folders.root), now: now() };
      return isOffsite(target)
        ? pruneOffsite(target, requireOffsite(offsite), { ...options, folders, signal })
        : pruneBackups(target, options);
    },
    /** Checks a place without writing to it, for a few seconds. Returns the problem as a sentence, or null. */
    findProblem: async (target: string, signal: AbortSignal) => {
      try {
        if (!isOffsite(target)) await requireUsableFolder(resolve(target), readMounts);
        else {
          const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_LOOK_MS)]);
          const access = { ...requireOffsite(offsite), timing: LOOK_TIMING };
          await (await openRepository(target, access, limit)).listSnapshots(limit);
        }
        return null;
      } catch (error) {
        const { message, name } = error as Error;
        return name === "TimeoutError" ? `${target} does not respond.` : message;
      }
    },
    /** Creates the recovery key of off-site backups and returns it; null if it exists already. */
    createRecoveryKey: async () => {
      const access = requireOffsite(offsite);
      if (access.recoveryKey() !== null) return null;
      const key = createRecoveryKey();
      await access.saveRecoveryKey(key);
      return key;
    },
  };
}
