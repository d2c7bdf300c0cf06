/**
 * Work at the start of the server and every hour: recovers from a crash and from a clock that was ahead, and removes
 * expired rows and files without a row.
 */
import { resolve } from "node:path";
import { createMediaFolders, parseWorkName } from "../blobs/folders";
import { listNames, moveToTrash, sweepTrash } from "../blobs/trash";
import { isUuid } from "../lib/ids";
import { findExistingAssetIds } from "../store/assets";
import { failInterruptedRuns } from "../store/backup-runs";
import { findExportIdsWithFiles } from "../store/data-exports";
import { deleteDeviceCodesExpiredBefore } from "../store/device-codes";
import { bringForward } from "../store/future-times";
import { deleteStoredResponsesBefore } from "../store/idempotency";
import { removeOldKept } from "../store/kept-databases";
import { deleteFinishedMailsBefore } from "../store/mails";
import { deleteReadNotificationsBefore } from "../store/notifications";
import { deleteExpiredTokens } from "../store/one-time-tokens";
import { deleteRenderSharesExpiredBefore } from "../store/render-shares";
import { findExistingRenderIds } from "../store/renders";
import { mergeSearchIndexes } from "../store/search";
import { deleteExpiredSessions } from "../store/sessions";
import { requeueInterruptedSteps } from "../store/step-queue";
import { listOpenSteps } from "../store/steps";
import { deleteFinishedDeliveriesBefore } from "../store/webhooks";
import { deleteOldWorkerRuns, deleteRevokedTokensBefore } from "../store/workers";
import { reconcileDerivatives } from "./assets/discard-derivatives";
import { INTERRUPTED } from "./backup/backups";
import { discardAbandonedDrills } from "./backup/drill-folder";
import { readBillingMode, waiveCharges } from "./billing/prices";
import { countOlderCuts } from "./cuts/summaries";
import { sweepSupersededCuts } from "./cuts/versions";
import { expireLostExports } from "./data-export/requests";
import { RESPONSES_KEPT_MS } from "./idempotency";
import { sweepLiveEvents } from "./live/events";
import type { CoreNeeds } from "./needs";
import type { PipelineNeeds } from "./pipelines/pipelines";
import { indexBacklog } from "./search/index-transcripts";
import { recoverUploads } from "./uploads/progress";

/** Time for which the server keeps revoked workers and the runs of workers. */
const WORKER_HISTORY_MS = 30 * 24 * 3600 * 1000;
const MAX_RUNS_PER_WORKER = 1_000;

/**
 * Recovers from a crash or a stop: requeues interrupted steps, starts the preparation of complete uploads, removes
 * orphaned files.
 */
export async function recover(services: PipelineNeeds): Promise<void> {
  const requeued = await services.store.write((tx) => requeueInterruptedSteps(tx, services.now()));
  if (requeued > 0) services.log.warn("jobs.requeued_after_unclean_exit", { jobs: requeued });
  const interrupted = await services.store.write((tx) => failInterruptedRuns(tx, INTERRUPTED, services.now()));
  if (interrupted > 0) services.log.warn("backup.interrupted_by_unclean_exit", { runs: interrupted });
  await services.store.write(async (tx) => {
    if ((await readBillingMode(services.config, tx)) === "off") await waiveCharges(tx, services.now());
  });
  const { backupTo } = services.config;
  void discardAbandonedDrills([services.folders.root, ...(backupTo === null ? [] : [backupTo])]).catch((error) =>
    services.log.warn("drill.discard_failed", { error }),
  );
  await recoverFiles(services, true);
  for (const step of listRowSteps(services)) await step();
}

/**
 * Handles the uploads and files of an earlier run, also when a folder comes back that was offline at the start. Does
 * nothing while one is offline. `isStart`: no request is writing to an upload.
 */
export async function recoverFiles(services: PipelineNeeds, isStart: boolean): Promise<void> {
  const { folders, log } = services;
  if ((await folders.guard.check()) !== null) return;
  await createMediaFolders(folders);
  await recoverUploads(services, isStart);
  await sweepOrphans(services);
  await expireLostExports(services);
  void reconcileDerivatives(services).catch((error) => log.warn("derivatives.measure_failed", { error }));
  void countOlderCuts(services).catch((error) => log.warn("cut.count_failed", { error }));
  void indexBacklog(services).catch((error) => log.warn("search.index_failed", { error }));
  // Runs in the background, because sweeping many files takes a while.
  void sweepTrash(folders, services.confirmedNow()).catch((error) => log.warn("trash.sweep_failed", { error }));
}

type SweepStep = () => Promise<unknown>;

/**
 * Handles complete and expired uploads, and removes orphaned files, old trash and expired rows. While a folder is
 * offline, only rows. An abort stops between two steps; the next sweep does the rest.
 */
export async function sweep(services: PipelineNeeds, signal?: AbortSignal): Promise<void> {
  const { confirmedNow, folders } = services;
  const isOnline = (await folders.guard.check()) === null;
  const fileSteps: SweepStep[] = [
    () => recoverUploads(services, false),
    () => sweepOrphans(services),
    () => sweepTrash(folders, confirmedNow(), signal),
    () => sweepSupersededCuts(services),
  ];
  for (const step of [...(isOnline ? fileSteps : []), ...listRowSteps(services)]) {
    if (signal?.aborted) return;
    await step();
  }
}

const listRowSteps = (services: PipelineNeeds): SweepStep[] => [
  () => sweepExpiredRows(services),
  () => removeOldKept(resolve(services.config.dataDir), services.confirmedNow()),
  () => services.store.write((tx) => deleteExpiredSessions(tx, services.confirmedNow())),
  () => services.store.write((tx) => bringForward(tx, services.now())),
  () => services.store.write(mergeSearchIndexes),
  () => sweepLiveEvents(services),
  () =>
    services.store.write(async (tx) => {
      const before = services.confirmedNow() - WORKER_HISTORY_MS;
      await deleteRevokedTokensBefore(tx, before);
      await deleteOldWorkerRuns(tx, before, MAX_RUNS_PER_WORKER);
    }),
];

/** Kept for a while, so that a late poll receives the error for an expired code. */
const DEVICE_CODES_KEPT_MS = 3600 * 1000;
const DELIVERIES_KEPT_MS = 30 * 24 * 3600 * 1000;
const NOTIFICATIONS_KEPT_MS = 90 * 24 * 3600 * 1000;
const MAX_DELETED_NOTIFICATIONS = 500;
const MAILS_KEPT_MS = 30 * 24 * 3600 * 1000;

/**
 * Removes the files of deleted assets and renders, the archives of exports that do not exist, have failed or have
 * expired, and the work folders of ended jobs. Errors: those of `moveToTrash`.
 */
export async function sweepOrphans(services: CoreNeeds): Promise<void> {
  const { folders, store } = services;
  const orphans = async (
    folder: string,
    alive: (ids: string[]) => Promise<Set<string>>,
    toId = (name: string): string => name,
  ) => {
    const names = await listNames(folder);
    const living = await alive(names.map(toId).filter(isUuid));
    return names.filter((name) => !living.has(toId(name))).map((name) => `${folder}/${name}`);
  };
  const assets = (ids: string[]) => findExistingAssetIds(store.read, ids);
  const paths = [
    ...(await orphans(folders.mediaRoot, assets)),
    ...(await orphans(folders.uploads, assets)),
    ...(await orphans(
      folders.exportsRoot,
      (ids) => findExportIdsWithFiles(store.read, ids),
      (name) => name.replace(/\.(?:zip|part)$/, ""),
    )),
    ...(await orphans(folders.rendersRoot, (ids) => findExistingRenderIds(store.read, ids))),
    ...(await orphans(
      folders.workRoot,
      async (ids) => new Set((await listOpenSteps(store.read, ids)).flatMap(({ subject_id: id }) => id ?? [])),
      parseWorkName,
    )),
  ];
  if (paths.length > 0) {
    await moveToTrash(folders, paths, services.now());
    services.log.info("orphans.removed", { count: paths.length });
  }
}

async function sweepExpiredRows({ confirmedNow, store }: CoreNeeds): Promise<void> {
  const time = confirmedNow();
  await store.write(async (tx) => {
    await deleteStoredResponsesBefore(tx, time - RESPONSES_KEPT_MS);
    await deleteDeviceCodesExpiredBefore(tx, time - DEVICE_CODES_KEPT_MS);
    await deleteFinishedDeliveriesBefore(tx, time - DELIVERIES_KEPT_MS);
    await deleteFinishedMailsBefore(tx, time - MAILS_KEPT_MS);
    await deleteExpiredTokens(tx, time);
    await deleteRenderSharesExpiredBefore(tx, time);
  });
  const before = time - NOTIFICATIONS_KEPT_MS;
  const deleteSome = () => store.write((tx) => deleteReadNotificationsBefore(tx, before, MAX_DELETED_NOTIFICATIONS));
  while ((await deleteSome()) === MAX_DELETED_NOTIFICATIONS);
}
