/** The check of each server problem. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  type FoundProblem,
  findBackupProblem,
  findCertificateProblem,
  findDatabaseProblem,
  findDiskProblem,
  findDrillProblem,
  findFilesProblem,
  findFolderProblem,
  findWebhookProblem,
  findWorkerProblem,
  type Problem,
  WEBHOOK_DISABLED_FOR_MS,
  WEBHOOK_FAILING_AFTER_MS,
  WORKER_GONE_AFTER_MS,
} from "../../domain/alerts";
import { findDiskTrend, SAMPLE_INTERVAL_MS, SAMPLES_KEPT_MS } from "../../domain/disk-trend";
import type { BackupRunKind } from "../../domain/states";
import { listDiskSamples, saveDiskSample } from "../../store/alerts";
import { type BackupRun, listBackupRuns } from "../../store/backup-runs";
import { countOpenFindings } from "../../store/file-checks";
import { readFailingEndpoints } from "../../store/webhooks";
import { INTERRUPTED } from "../backup/backups";
import { isInPlace } from "../backup/places";
import type { WorkerNeeds } from "../cluster/worker-list";
import type { DiskState } from "../health/system-health";

export type ProblemNeeds = WorkerNeeds & {
  readDisk(): Promise<DiskState>;
  /** Returns milliseconds on a monotonic clock, because the time of day may be changed. */
  clock(): number;
};

/**
 * `graceMs`: how long after the start the problem is not looked for. `find` returns null without a problem, and throws
 * when it cannot know.
 */
export type ProblemCheck = { graceMs: number; find(): Promise<FoundProblem | null> };

const CATCH_UP_MS = 15 * 60_000;
/** The certificate and the disk need no grace period. */
const AT_ONCE = 0;

export const createProblemChecks = (services: ProblemNeeds): Record<Problem, ProblemCheck> => ({
  database_damaged: { graceMs: AT_ONCE, find: async () => findDatabaseProblem(services.store.findDamage()) },
  backups_failing: { graceMs: CATCH_UP_MS, find: createBackupCheck(services) },
  drill_failed: { graceMs: AT_ONCE, find: () => checkDrill(services) },
  folder_offline: {
    graceMs: AT_ONCE,
    find: async () => findFolderProblem((await services.folders.guard.check())?.about ?? null),
  },
  files_damaged: { graceMs: AT_ONCE, find: async () => findFilesProblem(await countOpenFindings(services.store.read)) },
  disk_space: { graceMs: AT_ONCE, find: () => checkDisk(services) },
  certificate: { graceMs: AT_ONCE, find: createCertificateCheck(services) },
  worker_gone: { graceMs: CATCH_UP_MS, find: () => checkWorkers(services) },
  webhooks_failing: { graceMs: CATCH_UP_MS, find: () => checkWebhooks(services) },
});

/** Number of runs to read, including manual backups to other folders. */
const MAX_RUNS = 50;

/** Lists the ended runs of a kind, except interrupted ones, the newest first. */
async function listEndedRuns({ store }: ProblemNeeds, kind: BackupRunKind): Promise<BackupRun[]> {
  const { rows } = await listBackupRuns(store.read, { kind }, { limit: MAX_RUNS, offset: 0 });
  return rows.filter(({ error, state }) => state !== "running" && error !== INTERRUPTED);
}

/** Only backups to the folder of the nightly ones count. */
function createBackupCheck(services: ProblemNeeds): ProblemCheck["find"] {
  const { clock, config, now } = services;
  const { backupTo } = config;
  if (backupTo === null) return async () => null;
  const startedAt = clock();
  return async () => {
    const at = now();
    // Those of a clock that was ahead once would hide that there are no later ones.
    const runs = (await listEndedRuns(services, "backup")).filter(
      ({ path, started_at }) => isInPlace(path, backupTo) && started_at <= at,
    );
    const completed = runs.find(({ state }) => state === "completed");
    const error = runs[0]?.state === "failed" ? (runs[0].error ?? "The log has the reason") : null;
    // Before the first one: a server that is restarted each day is late too. The time of day may have been wrong at its
    // start.
    const waitingSince = Math.min(runs.at(-1)?.started_at ?? at, at - (clock() - startedAt));
    return findBackupProblem({ completedAt: completed?.started_at ?? waitingSince, error }, at);
  };
}

async function checkDrill(services: ProblemNeeds): Promise<FoundProblem | null> {
  const [last] = await listEndedRuns(services, "drill");
  return findDrillProblem(last?.state === "failed" ? (last.error ?? "The log has the reason") : null);
}

/** Measures the free space, once an hour also for the trend. */
async function checkDisk({ folders, now, readDisk, store }: ProblemNeeds): Promise<FoundProblem | null> {
  const { freeBytes, totalBytes, reserveBytes, dataDisk } = await readDisk();
  // While the media folder is away, the figures are those of another disk, which are not part of the trend.
  if (folders.guard.findProblem() !== null)
    return findDiskProblem({ freeBytes, totalBytes, reserveBytes, trend: null });
  const ofData = dataDisk && findDiskProblem({ ...dataDisk, reserveBytes, trend: null });
  if (ofData) return { ...ofData, title: ofData.title.replace("disk", "disk of the data folder") };
  const at = now();
  let samples = await listDiskSamples(store.read);
  const newest = samples.at(-1)?.takenAt ?? Number.NEGATIVE_INFINITY;
  if (newest > at || at - newest >= SAMPLE_INTERVAL_MS) {
    await store.write((tx) => saveDiskSample(tx, { takenAt: at, freeBytes }, at - SAMPLES_KEPT_MS));
    samples = await listDiskSamples(store.read);
  }
  return findDiskProblem({ freeBytes, totalBytes, reserveBytes, trend: findDiskTrend(samples, at) });
}

/** The server uses the certificate that was in the file when it started. */
function createCertificateCheck({ config, now }: ProblemNeeds): ProblemCheck["find"] {
  const path = config.tlsCert;
  if (path === null || config.tlsKey === null) return async () => null;
  const atStart = readEnd(path);
  return async () => {
    const usedUntil = await atStart;
    // The server would not start with a damaged one.
    if (usedUntil === null) return null;
    return findCertificateProblem({ usedUntil, storedUntil: await readEnd(path) }, now());
  };
}

/** Returns when the first certificate of a PEM file ends, or null when it cannot be read. */
async function readEnd(path: string): Promise<number | null> {
  try {
    const end = Date.parse(new X509Certificate(await readFile(path)).validTo);
    return Number.isNaN(end) ? null : end;
  } catch {
    return null;
  }
}

/** Without Redis, there are no workers, only old rows. */
async function checkWorkers({ config, now, workerList }: ProblemNeeds): Promise<FoundProblem | null> {
  if (config.redisUrl === null) return null;
  const workers = await workerList.list();
  const gone = workers.filter(
    ({ state, worker }) =>
      state === "offline" && !worker.is_draining && now() - worker.last_seen_at > WORKER_GONE_AFTER_MS,
  );
  const online = workers.filter(({ state }) => state !== "offline").length;
  return findWorkerProblem({ names: gone.map(({ worker }) => worker.name), online });
}

/** Maximum number of endpoints whose hosts are read. */
const MAX_HOSTS = 20;

async function checkWebhooks({ now, store }: ProblemNeeds): Promise<FoundProblem | null> {
  const { urls, total, disabled } = await readFailingEndpoints(
    store.read,
    { failingBefore: now() - WEBHOOK_FAILING_AFTER_MS, disabledAfter: now() - WEBHOOK_DISABLED_FOR_MS },
    MAX_HOSTS,
  );
  // The path of a URL may contain a secret.
  return findWebhookProblem({ hosts: urls.map((url) => new URL(url).host), total, disabled });
}
