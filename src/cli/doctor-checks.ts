/** The single checks of `offcut doctor`. Each tries the thing itself: opens, runs, encodes, recognises. */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { openSandbox, speechCommand } from "../boot";
import type { Config } from "../config";
import { getControlSocketPath, hasValidSocketPath, prepareDataFolder } from "../data-folder";
import { PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import { type Assets, findDamagedAssets, openAssets } from "../lib/assets";
import { killAllChildren } from "../lib/process";
import type { Sandbox } from "../lib/sandbox";
import { chooseEncoder, detectEncoders } from "../media/encoders";
import { type Ffmpeg, findFfmpegWarning, selectFfmpeg } from "../media/ffmpeg";
import { createSpeechEngine } from "../speech/engine";
import { getModelsFolder, readInstalledModels } from "../speech/models/installed-models";
import { runAdminCommand } from "./admin";
import { describeFreeSpace } from "./doctor-storage";

/** `about` is one line: what is in use, or what is wrong and what to do. */
export type DoctorCheck = { name: string; state: "ok" | "warning" | "broken"; about: string };

/** Runs all checks; none of them throws. */
export async function runDoctorChecks(config: Config): Promise<DoctorCheck[]> {
  const checks: DoctorCheck[] = [];
  const run = async <T>(name: string, body: () => Promise<{ value: T; check: Omit<DoctorCheck, "name"> }>) => {
    try {
      const { value, check } = await body();
      checks.push({ name, ...check });
      return value;
    } catch (error) {
      checks.push({ name, state: "broken", about: (error as Error).message.split("\n")[0] ?? "unknown error" });
      return null;
    }
  };
  try {
    const folder = await run("data folder", () => checkDataFolder(config));
    if (folder === null) return checks;
    const assets = await run("files inside", () => checkAssets(folder));
    if (assets === null) return checks;
    await run("database", () => checkDatabase(config));
    const ffmpeg = await run("ffmpeg", () => checkFfmpeg(config, assets));
    const sandbox = ffmpeg && (await run("sandbox", () => checkSandbox(config, assets, ffmpeg)));
    if (ffmpeg && sandbox) await run("encoder", () => checkEncoder(config, ffmpeg, sandbox));
    await run("speech", () => checkSpeech(assets, folder));
    await run("added models", () => checkInstalledModels(folder));
    await run("port", () => checkPort(config, folder));
    await run("webhooks", () => checkWebhooks(config));
    if (!hasValidSocketPath(folder)) {
      const about = `the path is too long for ${getControlSocketPath(folder)}: user and key need the server stopped`;
      checks.push({ name: "control socket", state: "warning", about });
    }
    return checks;
  } finally {
    await killAllChildren();
  }
}

const ok = <T>(value: T, about: string) => ({ value, check: { state: "ok" as const, about } });
const warning = <T>(value: T, about: string) => ({ value, check: { state: "warning" as const, about } });

async function checkDataFolder(config: Config) {
  const folder = prepareDataFolder(config.dataDir);
  const { isLow, about } = describeFreeSpace(config, folder);
  return isLow ? warning(folder, about) : ok(folder, about);
}

async function checkAssets(folder: string) {
  const assets = await openAssets({ dataDir: folder });
  const damaged = await findDamagedAssets(assets);
  if (damaged.length > 0)
    throw new Error(`damaged: ${damaged.join(", ")}; remove ${assets.folder ?? "and build again"}`);
  return ok(assets, assets.folder ?? "run from the sources");
}

async function checkDatabase(config: Config) {
  const users = (await runAdminCommand(config, "user list", {})) as unknown[];
  return ok(null, `opens and answers, ${users.length} accounts`);
}

async function checkFfmpeg(config: Config, assets: Assets) {
  const ffmpeg = await selectFfmpeg({ forced: config.ffmpeg, bundled: assets.ffmpeg, path: process.env.PATH });
  const about = `${ffmpeg.path}, version ${ffmpeg.version}, ${ffmpeg.bundled ? "bundled" : "of the system"}`;
  const outdated = findFfmpegWarning(ffmpeg, process.env.PATH);
  return outdated === null ? ok(ffmpeg, about) : warning(ffmpeg, `${about}. ${outdated}`);
}

const SANDBOX_DESCRIPTIONS = {
  bwrap: "bwrap: media processes have no network and see only the job's folders",
  unshare: "unshare: media processes have no network, but can read files of this account",
  none: "none: media processes have the network and can read files of this account",
};

async function checkSandbox(config: Config, assets: Assets, ffmpeg: Ffmpeg) {
  const sandbox = await openSandbox(config, assets, ffmpeg);
  const about = SANDBOX_DESCRIPTIONS[sandbox.mode];
  return sandbox.reason === null ? ok(sandbox, about) : warning(sandbox, `${about} (${sandbox.reason})`);
}

async function checkEncoder(config: Config, ffmpeg: Ffmpeg, sandbox: Sandbox) {
  const encoders = await detectEncoders(ffmpeg, sandbox);
  const found = [...encoders.video, ...encoders.audio].join(", ");
  return ok(null, `${chooseEncoder(encoders, config.encoder)} in use; found by trying: ${found}`);
}

/** Loads the models and listens to a second of silence. */
async function checkSpeech(assets: Assets, folder: string) {
  const engine = createSpeechEngine({ command: speechCommand(assets), idleSeconds: 1 });
  const workDir = await mkdtemp(join(folder, "doctor-"));
  try {
    const path = join(workDir, "silence.pcm");
    await Bun.write(path, new Uint8Array(PCM_SAMPLE_RATE_HZ * 2));
    const started = performance.now();
    await engine.analyze({ path }, { language: null });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    return ok(null, `English recogniser and voice detection, loaded in ${seconds} s`);
  } finally {
    await engine.close();
    await rm(workDir, { recursive: true, force: true });
  }
}

async function checkInstalledModels(folder: string) {
  const { installed, damaged } = readInstalledModels(getModelsFolder(folder));
  const whole = installed.map(({ manifest }) => `${manifest.name} (${manifest.languages.join(", ")})`).join("; ");
  const bad = damaged.map(({ name, problem }) => `${name} is damaged: ${problem}; add it again`);
  if (bad.length > 0) return warning(null, [...bad, ...(whole ? [whole] : [])].join("; "));
  return ok(null, whole || "none: other languages than English are cut by their pauses alone");
}

async function checkWebhooks({ webhooksAllowLoopback, webhooksAllowPrivate }: Config) {
  const open = [
    ...(webhooksAllowLoopback ? ["this machine (webhooks_allow_loopback)"] : []),
    ...(webhooksAllowPrivate ? ["the private network (webhooks_allow_private)"] : []),
  ];
  if (open.length === 0) return ok(null, "go to public addresses only");
  return warning(null, `may also go to ${open.join(" and ")}: anyone with an API key can make the server call there`);
}

async function checkPort(config: Config, folder: string) {
  const where = `${config.host}:${config.port}`;
  try {
    Bun.serve({ hostname: config.host, port: config.port, reusePort: false, fetch: () => new Response() }).stop(true);
    return ok(null, `${where} is free`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (await isServerRunning(folder)) return ok(null, `${where} is taken, and a server of this folder runs`);
    return warning(null, `${where} is taken by another program`);
  }
}

/** Whether a server answers on the folder's control socket. */
async function isServerRunning(folder: string): Promise<boolean> {
  const body = JSON.stringify({ command: "user list", args: {} });
  const answer = await fetch("http://offcut/", { unix: getControlSocketPath(folder), method: "POST", body }).catch(
    () => null,
  );
  return answer?.ok ?? false;
}
