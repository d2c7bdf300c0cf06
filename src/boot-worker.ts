/**
 * Creates the parts of a worker: tools, cache, the client of the head and the queue. It has no database and no secret
 * but its join token.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { version } from "../package.json";
import { openBlobCache } from "./blobs/blob-cache";
import { openMediaTools } from "./boot-tools";
import { type Config, ConfigError, readCertificate } from "./config";
import { prepareDataFolder, requireFolderLock } from "./data-folder";
import type { WorkerAnnouncement } from "./domain/worker-messages";
import { JOB_NEEDS, MAX_REASON_LENGTH, WORKER_PROTOCOL, type WorkerJob } from "./domain/workers";
import { openAssets } from "./lib/assets";
import { createDiskReserve } from "./lib/disk-reserve";
import { newId } from "./lib/ids";
import type { Log } from "./lib/log";
import { killAllChildren } from "./lib/process";
import { createHead } from "./outbound/head";
import { openTicketQueue } from "./queue/bullmq-worker";
import { getModelsFolder, listLanguages } from "./speech/models/installed-models";
import { type MediaTools, readEncodingFacts } from "./work/jobs/media-tools";
import { startAgent } from "./work/worker/agent";
import { createExecutor } from "./work/worker/executor";
import { createCopies, openWorkFolders } from "./work/worker/work-folders";

/** The settings that a worker requires. `head` and `redis` are URLs. */
export type WorkerSettings = { head: string; token: string; redis: string };

/**
 * Starts a worker. Throws `ConfigError` when the data folder or the certificate cannot be used; a plain `Error` when it
 * could do no job.
 */
export async function startWorker(config: Config, settings: WorkerSettings, log: Log) {
  const path = prepareDataFolder(config.dataDir);
  if (existsSync(join(path, "offcut.db")))
    throw new ConfigError(`${path} is the data folder of a server. Give the worker another one with --data-dir.`);
  const lock = requireFolderLock(path);
  try {
    const running = await openWorker(config, settings, log, path);
    return { ...running, ended: running.ended.finally(() => lock.release()) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

export type RunningWorker = Awaited<ReturnType<typeof startWorker>>;

async function openWorker(config: Config, { head: url, token, redis }: WorkerSettings, log: Log, path: string) {
  const ca = await readCertificate(config.ca);
  const assets = await openAssets({ dataDir: path });
  const disk = createDiskReserve(path, config.diskReserveBytes);
  const workDir = join(path, "work");
  const tools: MediaTools = {
    ...(await openMediaTools(config, assets, path, { speech: null, log })),
    temporaryFolder: workDir,
    maxFileBytes: disk.maxFileBytes,
  };
  const { sandbox } = tools;
  const capabilities = await readCapabilities(tools, config.jobs, log);
  const cache = await openBlobCache({ folder: join(path, "cache"), maxBytes: config.cacheBytes, disk });
  const head = createHead({ url, token, ca });
  const bootId = newId();
  const announce = (): WorkerAnnouncement => ({
    protocol: WORKER_PROTOCOL,
    version,
    bootId,
    ...capabilities,
    sandbox: { mode: sandbox.mode, reason: sandbox.reason?.slice(0, MAX_REASON_LENGTH) ?? null },
    slots: config.slots,
    languages: listLanguages(getModelsFolder(path)),
    freeBytes: disk.availableBytes() + cache.unusedBytes(),
  });
  const workFolders = await openWorkFolders(workDir);
  const agent = startAgent({
    head,
    announce,
    openQueue: (queue, onTicket) => openTicketQueue({ url: redis, ca }, { queue, slots: config.slots, log }, onTicket),
    execute: createExecutor({ tools, head, cache, workFolders, log }),
    copies: createCopies({ cache, workFolders, head, log }),
    log,
  });
  const close = async () => {
    await tools.speech.close();
    await killAllChildren();
  };
  return {
    /** Ends the current work or returns it to the head, and leaves the head. */
    drain: agent.drain,
    /** Resolves when everything has ended. */
    ended: agent.ended.finally(close),
  };
}

/** Tries the encoders, and leaves out renders when none works. Throws a plain `Error` when no job is left. */
async function readCapabilities(
  tools: MediaTools,
  wanted: WorkerJob[],
  log: Log,
): Promise<Pick<WorkerAnnouncement, "jobs" | "encoding">> {
  const encoder = await tools.encoder().catch((error: Error) => {
    if (wanted.some((job) => JOB_NEEDS[job].encoder)) log.warn("encoder.unavailable", { message: error.message });
    return null;
  });
  const jobs = wanted.filter((job) => !JOB_NEEDS[job].encoder || encoder !== null);
  if (jobs.length === 0) throw new Error("This machine can do none of the jobs: no video encoder works.");
  return { jobs, encoding: await readEncodingFacts(tools.ffmpeg, encoder ?? "none") };
}
