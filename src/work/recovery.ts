/** Work at the start of the server and every hour: recovers from a crash, removes expired data. */
import { resolve } from "node:path";
import { createMediaFolders } from "../blobs/folders";
import { sweepTrash } from "../blobs/trash";
import { failInterruptedRuns } from "../store/backup-runs";
import { removeOldKept } from "../store/kept-databases";
import { deleteExpiredSessions } from "../store/sessions";
import { requeueInterruptedSteps } from "../store/step-queue";
import { deleteOldWorkerRuns, deleteRevokedTokensBefore } from "../store/workers";
import { reconcileDerivatives } from "./assets/reconcile-derivatives";
import { INTERRUPTED } from "./backup/backups";
import { discardAbandonedDrills } from "./backup/drill-folder";
import { expireLostExports } from "./data-export/archive-removal";
import { sweepLiveEvents } from "./live/events";
import type { PipelineNeeds } from "./pipelines/pipelines";
import { sweepExpiredRows, sweepOrphans } from "./storage/orphans";
import { recoverUploads } from "./uploads/progress";

/** How long the server remembers revoked workers, and what workers have run. */
const WORKER_HISTORY_MS = 30 * 24 * 3600 * 1000;
const MAX_RUNS_PER_WORKER = 1_000;

/** Recovers from a crash or a stop: requeues interrupted steps, starts the preparation of complete uploads, removes orphaned files. */
export async function recover(services: PipelineNeeds): Promise<void> {
  const requeued = await services.store.write((tx) => requeueInterruptedSteps(tx, services.now()));
  if (requeued > 0) services.log.warn("jobs.requeued_after_unclean_exit", { jobs: requeued });
  const interrupted = await services.store.write((tx) => failInterruptedRuns(tx, INTERRUPTED, services.now()));
  if (interrupted > 0) services.log.warn("backup.interrupted_by_unclean_exit", { runs: interrupted });
  const { backupTo } = services.config;
  void discardAbandonedDrills([services.folders.root, ...(backupTo === null ? [] : [backupTo])]).catch((error) =>
    services.log.warn("drill.discard_failed", { error }),
  );
  await recoverFiles(services, true);
  await sweepRows(services);
}

/**
 * Handles the uploads and files of an earlier run, also when a folder comes back that was offline at the start. Does nothing while one is offline.
 * `isStart`: no request is writing to an upload.
 */
export async function recoverFiles(services: PipelineNeeds, isStart: boolean): Promise<void> {
  const { folders, log } = services;
  if ((await folders.guard.check()) !== null) return;
  await createMediaFolders(folders);
  await recoverUploads(services, isStart);
  await sweepOrphans(services);
  await expireLostExports(services);
  void reconcileDerivatives(services).catch((error) => log.warn("derivatives.measure_failed", { error }));
  // In the background: a trash of many files takes a while.
  void sweepTrash(folders, services.now()).catch((error) => log.warn("trash.sweep_failed", { error }));
}

/** Handles complete and expired uploads, and removes orphaned files, old trash and expired rows. While a folder is offline, only rows. */
export async function sweep(services: PipelineNeeds): Promise<void> {
  if ((await services.folders.guard.check()) === null) {
    await recoverUploads(services, false);
    await sweepOrphans(services);
    await sweepTrash(services.folders, services.now());
  }
  await sweepRows(services);
}

async function sweepRows(services: PipelineNeeds): Promise<void> {
  await sweepExpiredRows(services);
  await removeOldKept(resolve(services.config.dataDir), services.now());
  await services.store.write((tx) => deleteExpiredSessions(tx, services.now()));
  await sweepLiveEvents(services);
  await services.store.write(async (tx) => {
    await deleteRevokedTokensBefore(tx, services.now() - WORKER_HISTORY_MS);
    await deleteOldWorkerRuns(tx, services.now() - WORKER_HISTORY_MS, MAX_RUNS_PER_WORKER);
  });
}
