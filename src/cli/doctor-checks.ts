/** The checks of `offcut doctor`. Each one is practical: opens the database, runs ffmpeg, encodes, recognizes. */
import { accessSync, constants, existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createFolderGuard } from "../blobs/folder-guard";
import { openSandbox, speechCommand } from "../boot-tools";
import { type Config, publicUrl } from "../config";
import { getControlSocketPath, hasValidSocketPath, prepareDataFolder, readFolderId } from "../data-folder";
import type { JobName } from "../domain/jobs";
import { MEDIA_MARKER_NAME } from "../domain/media-folder";
import { PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import { type Assets, findDamagedAssets, openAssets } from "../lib/assets";
import { getFreeBytes } from "../lib/disk-reserve";
import type { ReadFileSystemType } from "../lib/file-systems";
import { killAllChildren } from "../lib/process";
import type { Sandbox } from "../lib/sandbox";
import { detectEncoders } from "../media/encoders";
import { type Ffmpeg, selectFfmpeg } from "../media/ffmpeg";
import { describeRefusal, getGuardedMarkers, inspectMediaFolder, isRefusal, requireLocalFolder } from "../media-folder";
import { createSpeechEngine } from "../speech/engine";
import { getModelsFolder, readInstalledModels } from "../speech/models/installed-models";
import { formatDatabaseDamage } from "../store/database-file";
import { readRedisState } from "../work/cluster/redis-state";
import type { WorkerReport } from "../work/cluster/worker-report";
import {
  type CheckResult,
  describeBackups,
  describeBilling,
  describeDisk,
  describeEncoders,
  describeFfmpeg,
  describeMail,
  describeModels,
  describeOffline,
  describeRedis,
  describeSandbox,
  describeWebhooks,
  describeWorkers,
  type HealthCheck,
  ok,
  warning,
} from "../work/health/checks";
import { findMailProblem } from "../work/health/probes";
import { runAdminCommand, sendToServer } from "./admin";
import { checkHead, isOfWorker } from "./doctor-head";

/** Runs all checks. A check that throws gets the state `broken`. */
export async function runDoctorChecks(
  config: Config,
  { readType }: { readType?: ReadFileSystemType } = {},
): Promise<HealthCheck[]> {
  const checks: HealthCheck[] = [];
  const run = async <T>(name: string, body: () => Promise<CheckResult & { value?: T }>): Promise<T | null> => {
    try {
      const { value = null, ...check } = await body();
      checks.push({ name, ...check });
      return value;
    } catch (error) {
      checks.push({ name, state: "broken", about: (error as Error).message.split("\n")[0] ?? "unknown error" });
      return null;
    }
  };
  try {
    const folder = await run("data folder", () => checkDataFolder(config, readType));
    if (folder === null) return checks;
    if (!isOfWorker(config)) await run("media folder", () => checkMediaFolder(config, folder));
    const assets = await run("bundled assets", () => checkAssets(folder));
    if (assets === null) return checks;
    if (!isOfWorker(config)) await run("database", () => checkDatabase(config));
    const ffmpeg = await run("ffmpeg", () => checkFfmpeg(config, assets));
    const sandbox = ffmpeg && (await run("sandbox", () => checkSandbox(config, assets, ffmpeg)));
    if (ffmpeg && sandbox) await run("encoder", () => checkEncoder(config, ffmpeg, sandbox));
    await run("speech", () => checkSpeech(assets, folder));
    await run("installed models", async () => describeModels(readInstalledModels(getModelsFolder(folder))));
    if (isOfWorker(config)) {
      await run("head", () => checkHead(config));
      await run("redis", () => checkRedisOfWorker(config));
      return checks;
    }
    await run("port", () => checkPort(config, folder));
    await run("webhooks", async () => describeWebhooks(config));
    await run("billing", async () => describeBilling(config));
    await run("mail", () => checkMail(config));
    await run("backups", () => checkBackups(config));
    const redis = await readRedisState(config);
    if (redis !== null) {
      await run("redis", async () => describeRedis(redis));
      await run("workers", () => checkWorkers(config));
    }
    if (!hasValidSocketPath(folder)) {
      const about = `${getControlSocketPath(folder)} exceeds the maximum path length: stop the server to use offcut user and offcut key`;
      checks.push({ name: "control socket", state: "warning", about });
    }
    return checks;
  } finally {
    await killAllChildren();
  }
}

async function checkDataFolder(config: Config, readType?: ReadFileSystemType) {
  if (!isOfWorker(config)) requireLocalFolder(config.dataDir, readType);
  const folder = prepareDataFolder(config.dataDir);
  if (isOfWorker(config) && existsSync(join(folder, "offcut.db")))
    throw new Error(`${folder} is the data folder of a server: set data_dir to another one`);
  requireWritable(folder);
  return { value: folder, ...describeDisk(config, { folder, freeBytes: getFreeBytes(folder) }) };
}

/** Determines how a start would use the media folder, without changing anything. */
async function checkMediaFolder(config: Config, folder: string) {
  const id = await readFolderId(folder);
  const media = await inspectMediaFolder(config, id);
  const { path, facts, decision } = media;
  if (isRefusal(decision)) throw new Error(describeRefusal(decision, media, folder));
  if (decision === "create") return ok(`${path}, the next start creates its ${MEDIA_MARKER_NAME}`);
  const problem = await createFolderGuard(getGuardedMarkers(folder, path, facts.id ?? "")).check();
  if (problem !== null) return describeOffline(problem);
  if (path === folder) return ok("in the data folder");
  return describeDisk(config, { folder: path, freeBytes: getFreeBytes(path) });
}

function requireWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new Error(
      `Cannot write to ${folder} (${code}). Make the server's user the owner of the folder, and mount its disk read-write.`,
    );
  }
}

async function checkAssets(folder: string) {
  const assets = await openAssets({ dataDir: folder });
  const damaged = await findDamagedAssets(assets);
  if (damaged.length > 0)
    throw new Error(
      assets.folder === null
        ? `Missing: ${damaged.join(", ")}. Build again.`
        : `Damaged: ${damaged.join(", ")}. Remove ${assets.folder}.`,
    );
  return { value: assets, ...ok(assets.folder ?? "run from the sources") };
}

async function checkDatabase(config: Config) {
  const { problems } = (await runAdminCommand(config, "database check", {})) as { problems: string[] };
  if (problems[0] !== undefined) throw new Error(formatDatabaseDamage(problems[0]));
  const users = (await runAdminCommand(config, "user list", {})) as unknown[];
  return ok(`opened, ${users.length} ${users.length === 1 ? "account" : "accounts"}`);
}

async function checkFfmpeg(config: Config, assets: Assets) {
  const ffmpeg = await selectFfmpeg({ forced: config.ffmpeg, bundled: assets.ffmpeg, path: process.env.PATH });
  return { value: ffmpeg, ...describeFfmpeg(ffmpeg, process.env.PATH) };
}

async function checkSandbox(config: Config, assets: Assets, ffmpeg: Ffmpeg) {
  const sandbox = await openSandbox(config, assets, ffmpeg);
  return { value: sandbox, ...describeSandbox(sandbox) };
}

async function checkEncoder(config: Config, ffmpeg: Ffmpeg, sandbox: Sandbox) {
  return describeEncoders(await detectEncoders(ffmpeg, sandbox), config);
}

/** Loads the built-in models and analyzes a second of silence. */
async function checkSpeech(assets: Assets, folder: string) {
  const engine = createSpeechEngine({ command: speechCommand(assets), idleSeconds: 1 });
  const workDir = await mkdtemp(join(folder, "doctor-"));
  try {
    const path = join(workDir, "silence.pcm");
    await Bun.write(path, new Uint8Array(PCM_SAMPLE_RATE_HZ * 2));
    const started = performance.now();
    await engine.analyze({ path }, { language: null });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    return ok(`English recognizer and voice activity detection loaded in ${seconds} s`);
  } finally {
    await engine.close();
    await rm(workDir, { recursive: true, force: true });
  }
}

async function checkRedisOfWorker({ redis, redisUrl, ca }: Config) {
  const state = await readRedisState({ redisUrl: redis ?? redisUrl, ca });
  if (state === null)
    throw new Error("redis is missing: set it to the redis_url of the head, as this machine reaches it");
  return describeRedis(state);
}

/** Signs in to the mail server without sending a mail. */
async function checkMail(config: Config) {
  const base = publicUrl(config, config.port);
  return describeMail(config, base, await findMailProblem(config, base));
}

/** Asks the server, whose environment has the credentials of the bucket. */
async function checkBackups(config: Config) {
  const { problem } = (await runAdminCommand(config, "backup check", {})) as { problem: string | null };
  return describeBackups(config, problem);
}

async function checkPort(config: Config, folder: string) {
  const where = `${config.host}:${config.port}`;
  try {
    Bun.serve({ hostname: config.host, port: config.port, reusePort: false, fetch: () => new Response() }).stop(true);
    return ok(`${where} is free`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    const response = await sendToServer(folder, "user list", {}).catch(() => null);
    if (response !== null) return ok(`${where} is used by the running server of this data folder`);
    return warning(`${where} is used by another program`);
  }
}

/** Returns the workers of this server and the waiting work. Without a running server, all workers are offline. */
export const readWorkerReport = async (config: Config): Promise<WorkerReport> =>
  (await runAdminCommand(config, "worker list", {})) as WorkerReport;

async function checkWorkers(config: Config) {
  const { workers, pending, shortages } = await readWorkerReport(config);
  const { renderJobs: render, prepareJobs: prepare, cutJobs: cut } = config;
  const slots: Record<JobName, number> = { render, prepare, cut, preview: 1 };
  return describeWorkers(workers, { slots, pending, shortages });
}

const MARKS: Record<HealthCheck["state"], string> = { ok: "ok", warning: "WARN", broken: "FAIL" };

/** Formats a check as a line. `width` is the length of the longest name. */
export const formatCheck = ({ name, state, about }: HealthCheck, width: number): string =>
  `${MARKS[state].padEnd(4)}  ${name.padEnd(width)}  ${about}`;
