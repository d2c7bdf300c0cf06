/** The state of backups for administrators, and the audit log entries of manual runs. */

import { dirname } from "node:path";
import type { AuditAction } from "../../domain/audit-actions";
import { findLastDueTime } from "../../domain/backup";
import { BACKUP_RUN_KINDS, type BackupRunKind } from "../../domain/states";
import { type BackupRun, findLastRun, readLastSuccesses } from "../../store/backup-runs";
import { type AuditActor, recordAudit } from "../access/audit";
import type { CoreNeeds } from "../needs";
import type { RecordRun } from "./backups";

const ACTIONS: Record<BackupRunKind, AuditAction> = {
  backup: "backup.started",
  verify: "backup.verification_started",
  drill: "backup.drill_started",
};

/** Returns a function that records the start of a manual run in the audit log. */
export const createRunRecorder =
  (actor: AuditActor, now: () => number): RecordRun =>
  (tx, run) =>
    recordAudit(tx, actor, { action: ACTIONS[run.kind], target: { kind: "backup_run", id: run.id } }, now());

export async function readBackupStatus({ store, config, now }: CoreNeeds) {
  const successes = await readLastSuccesses(store.read);
  const find = (state: BackupRun["state"]) =>
    Promise.all(BACKUP_RUN_KINDS.map((kind) => findLastRun(store.read, kind, state)));
  const failures = (await find("failed")).filter((run) => run !== null);
  const { backup } = successes;
  const isReplaced = (run: BackupRun) =>
    run.kind === "verify" && backup !== undefined && dirname(backup.path) === dirname(run.path) && backup.id > run.id;
  const open = failures.filter((run) => run.id > (successes[run.kind]?.id ?? "") && !isReplaced(run));
  return {
    running: (await find("running")).find((run) => run !== null) ?? null,
    lastBackup: successes.backup ?? null,
    lastProvenRestore: successes.drill ?? null,
    /**
     * The newest failure of a kind that has not succeeded since. A backup to the same place ends those of
     * verifications: it stores damaged files again.
     */
    lastFailure: open.toSorted((a, b) => (a.id < b.id ? 1 : -1))[0] ?? null,
    /** When the next nightly backup is due; null without nightly backups. */
    nextAt: config.backupTo === null ? null : findNextDueTime(now(), config.backupAt),
  };
}

function findNextDueTime(now: number, at: string): number {
  // Noon of the next day, in local time: days with a change of the clocks have 23 or 25 hours.
  const tomorrow = new Date(findLastDueTime(now, at));
  tomorrow.setDate(tomorrow.getDate() + 1);
  return tomorrow.getTime();
}
