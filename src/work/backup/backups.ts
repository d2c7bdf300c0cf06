/** Backups, their verifications and drills: one at a time, each with a row, until the server stops. */
import { type BackupFigures, formatProblems } from "../../domain/backup-runs";
import { conflict } from "../../domain/errors";
import type { BackupRunKind } from "../../domain/states";
import type { Log } from "../../lib/log";
import { type BackupRun, failInterruptedRuns, insertBackupRun, updateBackupRun } from "../../store/backup-runs";
import type { Queries } from "../../store/db";
import type { CoreNeeds } from "../needs";
import { writeUrgently } from "../storage/limits";
import { type BackupSource, createBackup } from "./create-backup";
import { type DrillSource, runDrill } from "./drill";
import { createBackupPlaces } from "./places";

/** Runs in the transaction that inserts the row. */
export type RecordRun = (tx: Queries, run: BackupRun) => Promise<unknown>;

/** A run that has started. `done` rejects with its error. */
export type StartedBackupRun<Report> = { run: BackupRun; done: Promise<Report> };

export type BackupNeeds = CoreNeeds & { backups: Backups };

const BUSY_TEXTS: Record<BackupRunKind, string> = {
  backup: "Another backup is being written. Wait until it is complete.",
  verify: "A backup is being verified. Wait until that is complete.",
  drill: "A drill is running. Wait until it is complete.",
};

export const INTERRUPTED = "The server stopped before it was complete.";

/** The result of a run in its row. `problems`: sentences. */
type RunResult = { path: string; figures: BackupFigures; problems: readonly string[] };

/** Creates the backups of a data folder, whose lock this process holds. */
export function createBackups(source: BackupSource & DrillSource & { log: Log }) {
  const { log, now, store } = source;
  const places = createBackupPlaces(source);
  const stopping = new AbortController();
  const { signal } = stopping;
  let busy: BackupRunKind | null = null;
  let running: Promise<unknown> = Promise.resolve();

  function requireIdle(): void {
    if (busy !== null) throw conflict(BUSY_TEXTS[busy]);
    signal.throwIfAborted();
  }

  async function start<Report>(
    kind: BackupRunKind,
    path: string,
    record: RecordRun | undefined,
    { work, toResult }: { work(): Promise<Report>; toResult(report: Report): RunResult },
  ): Promise<StartedBackupRun<Report>> {
    requireIdle();
    busy = kind;
    try {
      const run = await writeUrgently(source, async (tx) => {
        // Only this process writes rows: running ones are from a process that was killed.
        await failInterruptedRuns(tx, INTERRUPTED, now());
        const inserted = await insertBackupRun(tx, { kind, state: "running", path, started_at: now() });
        await record?.(tx, inserted);
        return inserted;
      });
      const done = execute(run, work, toResult).finally(() => {
        busy = null;
      });
      running = done.catch(() => {});
      return { run, done };
    } catch (error) {
      busy = null;
      throw error;
    }
  }

  async function execute<Report>(
    run: BackupRun,
    work: () => Promise<Report>,
    toResult: (report: Report) => RunResult,
  ): Promise<Report> {
    const end = (change: Partial<BackupRun>) =>
      store
        .write((tx) => updateBackupRun(tx, run.id, { ...change, ended_at: now() }))
        .catch((error) => log.error("backup.row_failed", { error, run_id: run.id }));
    try {
      const report = await work();
      const { path, figures, problems } = toResult(report);
      const error = formatProblems(problems);
      await end({ state: error === null ? "completed" : "failed", path, figures, error });
      const fields = { run_id: run.id, path, ...figures, duration_ms: now() - run.started_at };
      if (error === null) log.info(`${EVENTS[run.kind]}.completed`, fields);
      else log.error(`${EVENTS[run.kind]}.failed`, { ...fields, error });
      return report;
    } catch (error) {
      await end({ state: "failed", error: (error as Error).message });
      log.error(`${EVENTS[run.kind]}.failed`, { error, run_id: run.id, path: run.path });
      throw error;
    }
  }

  return {
    /**
     * Starts a backup to `target`, a folder or an `s3://` URL. Errors: `conflict` during another run; `done`: those of
     * `createBackup`.
     */
    create: (options: { target: string; hasMedia: boolean }, record?: RecordRun) =>
      start("backup", options.target, record, {
        work: () => createBackup(source, options, signal),
        toResult: ({ path, files, bytes, copied_bytes, missing }) => ({
          path,
          figures: { files, bytes, copied_bytes, missing_files: missing.length },
          // A backup is as complete as the data folder.
          problems: [],
        }),
      }),
    /** Starts to verify a backup. Errors: `conflict`, and those of `BackupPlaces`; `done`: the reason of `stop`. */
    verify: async ({ path, sample }: { path: string; sample: number }, record?: RecordRun) => {
      requireIdle();
      const backup = await places.open(path, signal);
      return start("verify", backup.path, record, {
        work: () => backup.verify({ sample, signal }),
        toResult: ({ files, checked_files, damaged, notes }) => ({
          path: backup.path,
          figures: { files, checked_files },
          problems: [...damaged.map((file) => `${file.path} ${file.problem}.`), ...notes],
        }),
      });
    },
    /**
     * Starts to try out a backup, or the newest one in a folder. Errors: `conflict`, `bad_request` without a backup;
     * `done`: those of `runDrill`.
     */
    drill: async ({ path }: { path: string }, record?: RecordRun) => {
      requireIdle();
      const backup = await places.openForDrill(path, signal);
      return start("drill", backup.path, record, {
        work: () => runDrill(source, backup, signal),
        toResult: ({ bytes, files, checked_files, balances, render_frames, problems }) => ({
          path: backup.path,
          figures: { files, bytes, checked_files, balances, render_frames },
          problems,
        }),
      });
    },
    /** Those of `BackupPlaces`, until the server stops. */
    findNewest: async (target: string, until: number) => {
      try {
        return await places.findNewest(target, until, signal);
      } catch (error) {
        log.error("backup.search_failed", { error, target });
        throw error;
      }
    },
    /** Records a backup to `target` that failed to start. */
    recordFailure: async (path: string, error: unknown) => {
      // The search was interrupted.
      if (signal.aborted) return;
      const at = { started_at: now(), ended_at: now() };
      const failed = { state: "failed", error: (error as Error).message } as const;
      await store.write((tx) => insertBackupRun(tx, { kind: "backup", path, ...failed, ...at }));
    },
    prune: (target: string, keep: { daily: number; weekly: number }) => places.prune(target, keep, signal),
    findProblem: (target: string) => places.findProblem(target, signal),
    createRecoveryKey: places.createRecoveryKey,
    isBusy: () => busy !== null,
    isWriting: () => busy === "backup",
    /** Ends the current run and removes its files. */
    stop: async () => {
      stopping.abort(conflict(INTERRUPTED));
      await running;
    },
  };
}

export type Backups = ReturnType<typeof createBackups>;

const EVENTS: Record<BackupRunKind, string> = { backup: "backup", verify: "backup_verification", drill: "drill" };
