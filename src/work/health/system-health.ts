/** The state of the server and its dependencies, for administrators. */
import { stat, statfs } from "node:fs/promises";
import { version } from "../../../package.json";
import { JOB_NAMES, type JobName } from "../../domain/jobs";
import { getFreeBytes } from "../../lib/disk-reserve";
import { withTimeLimit } from "../../lib/time-limit";
import { chooseEncoder, type Encoders } from "../../media/encoders";
import { BUILT_IN } from "../../speech/models/catalog";
import { getModelsFolder, readInstalledModels } from "../../speech/models/installed-models";
import { listOpenAlerts } from "../../store/alerts";
import { countDeliveries } from "../../store/delivery-queue";
import { countOpenJobs, type JobFacts, readJobFacts } from "../../store/job-list";
import { readDatabaseBytes } from "../../store/storage";
import { readBillingMode } from "../billing/prices";
import type { RedisState } from "../cluster/redis-state";
import type { MediaTools } from "../jobs/media-tools";
import type { CoreNeeds } from "../needs";
import {
  describeBackups,
  describeBilling,
  describeConnection,
  describeDatabase,
  describeDisk,
  describeFfmpeg,
  describeMail,
  describeModels,
  describeOffline,
  describeQueue,
  describeRedis,
  describeSandbox,
  describeTriedEncoders,
  describeWebhooks,
  describeWorkers,
  type HealthCheck,
  missingFfmpeg,
} from "./checks";
import type { HealthProbes } from "./probes";
import { checkReadiness, type HealthNeeds } from "./readiness";

/** `dataDisk`: the data folder's disk if the media folder is on another one, which the other figures describe. */
export type DiskState = DiskFigures & { reserveBytes: number; isLow: boolean; dataDisk?: DiskFigures };
type DiskFigures = { freeBytes: number; totalBytes: number };

/** Inputs beyond the services. */
type HealthSources = {
  tools: Pick<MediaTools, "encoders" | "ffmpeg" | "sandbox">;
  slots: Record<JobName, number>;
  probes: HealthProbes;
};

/** Reads the state of all parts. A part that does not work does not fail the others. */
export async function readSystemHealth(services: HealthNeeds, sources: HealthSources) {
  const { store, folders } = services;
  const { tools, slots, probes } = sources;
  const models = readInstalledModels(getModelsFolder(folders.root));
  const { installed, damaged } = models;
  const isAlive = await store.isAlive();
  const encoders = await readEncoders(services, tools);
  const disk = await readDisk(services);
  // Damage is in some tables only.
  const readRows = <T>(read: () => Promise<T>, otherwise: T): Promise<T> =>
    isAlive
      ? read().catch((error) => {
          if (store.findDamage() === null) throw error;
          return otherwise;
        })
      : Promise.resolve(otherwise);
  const databaseBytes = await readRows(() => readDatabaseBytes(store.read), null);
  const redis = await probes.readRedis();
  const queue = await readRows(() => readQueue(services, services.cluster?.places.countSlots() ?? slots), []);
  const jobs = await readRows(() => readJobFacts(store.read, services.now()), null);
  const checks = await runChecks(services, { sources, disk, databaseBytes, encoders, jobs, models, redis, queue });
  const isDegraded = !isAlive || disk.isLow || checks.some(({ state }) => state === "broken");
  return {
    /** `degraded`: a dependency of jobs does not work, or the disk is almost full. */
    status: isDegraded ? ("degraded" as const) : ("ok" as const),
    version,
    checks,
    /** Problems that administrators were notified of, or would be. */
    problems: await readRows(() => listOpenAlerts(store.read), []),
    disk,
    database: { isAlive, bytes: databaseBytes },
    ffmpeg: { path: tools.ffmpeg.path, version: tools.ffmpeg.version, isBundled: tools.ffmpeg.bundled },
    sandbox: { mode: tools.sandbox.mode, reason: tools.sandbox.reason },
    encoders,
    models: [
      { name: BUILT_IN.name, languages: BUILT_IN.languages, isBuiltIn: true },
      ...installed.map(({ manifest: { name, languages } }) => ({ name, languages, isBuiltIn: false })),
    ],
    damagedModels: damaged,
    redis,
    queue,
    pendingDeliveries: await readRows(() => countDeliveries(store.read, "pending"), 0),
  };
}

export type SystemHealth = Awaited<ReturnType<typeof readSystemHealth>>;

/** The subject of the checks. `databaseBytes` null: the database does not respond. `redis` null: none is configured. */
type CheckedParts = {
  disk: DiskState;
  encoders: Awaited<ReturnType<typeof readEncoders>>;
  queue: Awaited<ReturnType<typeof readQueue>>;
  redis: RedisState | null;
  sources: HealthSources;
  databaseBytes: number | null;
  jobs: JobFacts | null;
  models: ReturnType<typeof readInstalledModels>;
};

/** A mail server or a bucket that does not respond must not delay the other results. */
const MAX_WAIT_MS = 3_000;

const limitWait = (find: Promise<string | null>): Promise<string | null> =>
  withTimeLimit(find, MAX_WAIT_MS, () => "it does not respond");

async function runChecks(services: HealthNeeds, parts: CheckedParts): Promise<HealthCheck[]> {
  const { config, store } = services;
  const { tools, slots, probes } = parts.sources;
  const { ffmpeg: hasFfmpeg } = await checkReadiness(services);
  const [mailProblem, backupProblem] = await Promise.all([
    limitWait(probes.findMailProblem()),
    limitWait(probes.findBackupProblem()),
  ]);
  return [
    { name: "database", ...describeDatabase(parts.databaseBytes, store.findDamage()) },
    ...checkFolders(services),
    { name: "queue", ...describeQueue(parts.jobs, slots) },
    {
      name: "ffmpeg",
      ...(hasFfmpeg ? describeFfmpeg(tools.ffmpeg, process.env.PATH) : missingFfmpeg(tools.ffmpeg.path)),
    },
    { name: "encoder", ...describeTriedEncoders(parts.encoders, config) },
    { name: "sandbox", ...describeSandbox(tools.sandbox) },
    { name: "installed models", ...describeModels(parts.models) },
    { name: "mail", ...describeMail(config, services.publicUrl(), mailProblem) },
    { name: "backups", ...describeBackups(config, backupProblem) },
    { name: "webhooks", ...describeWebhooks(config) },
    { name: "billing", ...describeBilling({ ...config, billing: await readBillingMode(config, store.read) }) },
    { name: "connection", ...describeConnection(config) },
    ...(await checkWorkers(services, parts)),
  ];
}

/** The media folder has a separate line if it is not the data folder. */
function checkFolders({ config, folders: { root, mediaDir, guard } }: HealthNeeds): HealthCheck[] {
  const problem = guard.findProblem();
  const describe = (folder: string) => {
    if (problem?.folder === folder) return describeOffline(problem);
    return describeDisk(config, { folder, freeBytes: getFreeBytes(folder) });
  };
  const data = { name: "disk", ...describe(root) };
  return mediaDir === root ? [data] : [data, { name: "media folder", ...describe(mediaDir) }];
}

/** Nothing is checked without Redis. */
async function checkWorkers(
  { cluster, workerList }: HealthNeeds,
  { redis, queue, databaseBytes, sources: { slots } }: CheckedParts,
): Promise<HealthCheck[]> {
  if (redis === null) return [];
  const check = { name: "redis", ...describeRedis(redis) };
  if (databaseBytes === null) return [check];
  const workers = (await workerList.list()).map(({ worker, state }) => ({
    name: worker.name,
    state,
    jobs: worker.jobs,
    sandbox: worker.sandbox,
  }));
  const pending = Object.fromEntries(queue.map((one) => [one.name, one.pending]));
  const shortages = (await cluster?.places.listShortages()) ?? [];
  return [check, { name: "workers", ...describeWorkers(workers, { slots, pending, shortages }) }];
}

export async function readDisk({ config, disk, folders }: CoreNeeds): Promise<DiskState> {
  // The media needs the space.
  const folder = (await folders.guard.check()) === null ? folders.mediaDir : folders.root;
  const isOther = folder !== folders.root && (await stat(folder)).dev !== (await stat(folders.root)).dev;
  return {
    ...(await readFigures(folder)),
    ...(isOther ? { dataDisk: await readFigures(folders.root) } : {}),
    reserveBytes: config.diskReserveBytes,
    isLow: disk.availableBytes() === 0,
  };
}

async function readFigures(folder: string): Promise<DiskFigures> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** The first call tries all encoders; later calls get its result. */
const MAX_TRIAL_WAIT_MS = 1_000;

/** Returns null while the encoders are being tried, which takes seconds after the start. */
async function readEncoders({ config }: HealthNeeds, tools: Pick<MediaTools, "encoders">) {
  const found = await withTimeLimit<Encoders | null>(tools.encoders(), MAX_TRIAL_WAIT_MS, () => null);
  return found && { inUse: findEncoderInUse(found, config.encoder), ...found };
}

function findEncoderInUse(encoders: Encoders, forced: string | null): string | null {
  try {
    return chooseEncoder(encoders, forced);
  } catch {
    return null;
  }
}

async function readQueue({ store }: HealthNeeds, slots: Record<JobName, number>) {
  const open = await countOpenJobs(store.read);
  const count = (name: JobName, state: string) =>
    open.find((one) => one.name === name && one.state === state)?.jobs ?? 0;
  return JOB_NAMES.map((name) => ({
    name,
    slots: slots[name],
    pending: count(name, "pending"),
    running: count(name, "running"),
  }));
}
