/**
 * Writes the backup of each night, removes old ones, and tries out the newest one. What was missed while the server was off is done after its start.
 */
import { findLastDueTime } from "../../domain/backup";
import { isOffsite } from "../../domain/offsite";
import { createPoller, type Poller } from "../../lib/poller";
import { listBackupRuns } from "../../store/backup-runs";
import type { Services } from "../services";

/** A drill of a bucket downloads all of it: once a week. The last one started some time after its night began. */
const OFFSITE_DRILL_INTERVAL_MS = 6 * 24 * 3600 * 1000;

/** After a failure, for example while a network folder is away. */
const RETRY_MS = 3600 * 1000;

/** Creates the nightly backup to the folder `target`. */
export function createNightlyBackup(
  { backups, config, log, now, store }: Pick<Services, "backups" | "config" | "log" | "now" | "store">,
  target: string,
): Poller {
  let failedAt = Number.NEGATIVE_INFINITY;
  /** The due time whose backup exists. */
  let doneUntil = Number.NEGATIVE_INFINITY;

  async function poll(): Promise<null> {
    const due = findLastDueTime(now(), config.backupAt);
    if (due === doneUntil || now() - failedAt < RETRY_MS || backups.isBusy()) return null;
    try {
      // One that a wrong clock dated in the future does not count.
      const newest = await backups.findNewest(target, now());
      if (newest === null || Date.parse(newest.manifest.created_at) < due)
        await (await backups.create({ target, hasMedia: true })).done;
    } catch {
      // `backups` has logged it.
      failedAt = now();
      return null;
    }
    doneUntil = due;
    const removed = await backups.prune(target, { daily: config.backupKeepDaily, weekly: config.backupKeepWeekly });
    if (removed.length > 0) log.info("backup.pruned", { target, removed });
    // Once for each night or week, also when the server was killed meanwhile: whatever killed it may have been the drill.
    const { rows } = await listBackupRuns(store.read, { kind: "drill" }, { limit: 1, offset: 0 });
    const drilledAt = rows[0]?.started_at ?? Number.NEGATIVE_INFINITY;
    if (drilledAt >= due || (isOffsite(target) && due - drilledAt < OFFSITE_DRILL_INTERVAL_MS)) return null;
    const drill = await backups.drill({ path: target }).catch((error) => log.error("drill.failed", { error, target }));
    // Its end is logged and in its row.
    await drill?.done.catch(() => {});
    return null;
  }

  return createPoller(poll, (error) => log.error("backup.poll_failed", { error, target }));
}
