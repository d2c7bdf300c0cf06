/** The state of the server and of what it depends on, for administrators. */
import { statfs } from "node:fs/promises";
import { version } from "../../package.json";
import { JOB_NAMES, type JobName } from "../domain/jobs";
import type { Encoders } from "../media/encoders";
import { chooseEncoder } from "../media/encoders";
import { BUILT_IN } from "../speech/models/catalog";
import { getModelsFolder, readInstalledModels } from "../speech/models/installed-models";
import { readDatabaseBytes } from "../store/db-size";
import { countPendingDeliveries } from "../store/delivery-queue";
import { countOpenJobs } from "../store/job-list";
import type { MediaTools } from "./media-tools";
import type { Services } from "./services";

export type SystemHealth = {
  /** `degraded`: something that jobs need does not work, or the disk is almost full. */
  status: "ok" | "degraded";
  version: string;
  disk: { freeBytes: number; totalBytes: number; reserveBytes: number; isLow: boolean };
  database: { isAlive: boolean; bytes: number | null };
  ffmpeg: { path: string; version: string; isBundled: boolean };
  sandbox: { mode: string; reason: string | null };
  /** Null while they are being tried, which takes seconds after the start. */
  encoders: { inUse: string | null; video: string[]; audio: string[] } | null;
  models: { name: string; languages: readonly string[]; isBuiltIn: boolean }[];
  damagedModels: { name: string; problem: string }[];
  queue: { name: JobName; slots: number; pending: number; running: number }[];
  pendingDeliveries: number;
};

type HealthServices = Pick<Services, "config" | "disk" | "folders" | "store">;

/** Reads the state of all parts. A part that does not work does not fail the others. */
export async function readSystemHealth(
  services: HealthServices,
  tools: Pick<MediaTools, "encoders" | "ffmpeg" | "sandbox">,
  slots: Record<JobName, number>,
): Promise<SystemHealth> {
  const { store, folders } = services;
  const { installed, damaged } = readInstalledModels(getModelsFolder(folders.root));
  const isAlive = await store.isAlive();
  const encoders = await readEncoders(services, tools);
  const disk = await readDisk(services);
  const isDegraded = !isAlive || disk.isLow || encoders?.inUse === null;
  return {
    status: isDegraded ? "degraded" : "ok",
    version,
    disk,
    database: { isAlive, bytes: isAlive ? await readDatabaseBytes(store.read) : null },
    ffmpeg: { path: tools.ffmpeg.path, version: tools.ffmpeg.version, isBundled: tools.ffmpeg.bundled },
    sandbox: { mode: tools.sandbox.mode, reason: tools.sandbox.reason },
    encoders,
    models: [
      { name: BUILT_IN.name, languages: BUILT_IN.languages, isBuiltIn: true },
      ...installed.map(({ manifest: { name, languages } }) => ({ name, languages, isBuiltIn: false })),
    ],
    damagedModels: damaged,
    queue: isAlive ? await readQueue(services, slots) : [],
    pendingDeliveries: isAlive ? await countPendingDeliveries(store.read) : 0,
  };
}

async function readDisk({ config, disk, folders }: HealthServices): Promise<SystemHealth["disk"]> {
  const { bavail, blocks, bsize } = await statfs(folders.root);
  return {
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    reserveBytes: config.diskReserveBytes,
    isLow: disk.availableBytes() === 0,
  };
}

/** The first call tries all encoders. Later ones get its result. */
const MAX_TRIAL_WAIT_MS = 1_000;

async function readEncoders(
  { config }: HealthServices,
  tools: Pick<MediaTools, "encoders">,
): Promise<SystemHealth["encoders"]> {
  const found = await Promise.race([tools.encoders(), Bun.sleep(MAX_TRIAL_WAIT_MS).then(() => null)]);
  return found && { inUse: findEncoderInUse(found, config.encoder), ...found };
}

function findEncoderInUse(encoders: Encoders, forced: string | null): string | null {
  try {
    return chooseEncoder(encoders, forced);
  } catch {
    return null;
  }
}

async function readQueue({ store }: HealthServices, slots: Record<JobName, number>): Promise<SystemHealth["queue"]> {
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
