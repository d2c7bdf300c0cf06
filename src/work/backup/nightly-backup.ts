/**
 * Creates the nightly backup, prunes old ones, and runs a drill of the newest one. After the start, catches up on runs
 * that were missed while the server was off.
 */
import { findLastDueTime } from "../../domain/backup";
import { isOffsite } from "../../domain/offsite";
import { createPoller, type Poller } from "../../lib/poller";
import { hasAuditEntry } from "../../store/audit";
import { type BackupRun, listBackupRuns } from "../../store/backup-runs";
import { type BackupNeeds, INTERRUPTED } from "./backups";
import { isInPlace } from "./places";

/** A drill of a bucket downloads everything: once a week. The last one started some time after its night began. */
const OFFSITE_DRILL_INTERVAL_MS = 6 * 24 * 3600 * 1000;

/** Number of drills to read: enough for a week with many manual ones. */
const MAX_DRILLS = 100;

/** Delay after a failure, for example while a network folder is unreachable. The clock may have been ahead then. */
const RETRY_MS = 3600 * 1000;

/** Creates the nightly backup to the folder `target`. */
export function createNightlyBackup({ backups, config, log, now, store }: BackupNeeds, target: string): Poller {
  let failedAt = Number.NEGATIVE_INFINITY;
  /** The due time whose backup exists. */
  let doneUntil = Number.NEGATIVE_INFINITY;

  async function poll(): Promise<null> {
    const due = findLastDueTime(now(), config.backupAt);
    if (due === doneUntil || Math.abs(now() - failedAt) < RETRY_MS || backups.isBusy()) return null;
    try {
      // A backup that a wrong clock dated in the future does not count.
      const newest = await backups.findNewest(target, now()).catch(async (error) => {
        // The place is unreachable. Administrators see the reason for the missing backup.
        await backups.recordFailure(target, error);
        throw error;
      });
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
    if (await hasDrill(due)) return null;
    const drill = await backups.drill({ path: target }).catch((error) => log.error("drill.failed", { error, target }));
    // Its result is logged and in its row.
    await drill?.done.catch(() => {});
    return null;
  }

  /**
   * Returns whether tonight's drill was started, even if it may have killed the server, or this week's drill has ended.
   * For a bucket, only the server's own drills and completed manual ones count for the week: others may have been
   * interrupted or have used an old backup.
   */
  async function hasDrill(due: number): Promise<boolean> {
    const { rows } = await listBackupRuns(store.read, { kind: "drill" }, { limit: MAX_DRILLS, offset: 0 });
    const since = isOffsite(target) ? due - OFFSITE_DRILL_INTERVAL_MS : due;
    for (const run of rows.filter(({ path, started_at }) => started_at >= since && isInPlace(path, target))) {
      if (run.state === "completed") return true;
      const isAutomatic = !(await isManual(run));
      if (isAutomatic && (run.started_at >= due || run.error !== INTERRUPTED)) return true;
    }
    return false;
  }

  /** The audit log has the manual ones. */
  const isManual = ({ id }: BackupRun) => hasAuditEntry(store.read, "backup.drill_started", id);

  return createPoller(poll, (error) => log.error("backup.poll_failed", { error, target }));
}
