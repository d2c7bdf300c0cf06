/** The checks of `offcut doctor`. Each check uses the real thing: opens the database, runs ffmpeg, encodes, recognizes. */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { openSandbox, speechCommand } from "../boot";
import { type Config, getMailSender, publicUrl } from "../config";
import { getControlSocketPath, hasValidSocketPath, prepareDataFolder } from "../data-folder";
import { PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import { type Assets, findDamagedAssets, openAssets } from "../lib/assets";
import { killAllChildren } from "../lib/process";
import type { Sandbox } from "../lib/sandbox";
import { chooseEncoder, detectEncoders } from "../media/encoders";
import { type Ffmpeg, findFfmpegWarning, selectFfmpeg } from "../media/ffmpeg";
import { createMailer } from "../outbound/mail";
import { createSpeechEngine } from "../speech/engine";
import { getModelsFolder, readInstalledModels } from "../speech/models/installed-models";
import { runAdminCommand } from "./admin";
import { describeFreeSpace } from "./doctor-storage";

/** `about` is one line: what is in use, or the problem and how to fix it. */
export type DoctorCheck = { name: string; state: "ok" | "warning" | "broken"; about: string };

/** Runs all checks. A check that throws has the state `broken`. */
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
    const assets = await run("bundled assets", () => checkAssets(folder));
    if (assets === null) return checks;
    await run("database", () => checkDatabase(config));
    const ffmpeg = await run("ffmpeg", () => checkFfmpeg(config, assets));
    const sandbox = ffmpeg && (await run("sandbox", () => checkSandbox(config, assets, ffmpeg)));
    if (ffmpeg && sandbox) await run("encoder", () => checkEncoder(config, ffmpeg, sandbox));
    await run("speech", () => checkSpeech(assets, folder));
    await run("installed models", () => checkInstalledModels(folder));
    await run("port", () => checkPort(config, folder));
    await run("webhooks", () => checkWebhooks(config));
    await run("mail", () => checkMail(config));
    if (!hasValidSocketPath(folder)) {
      const about = `${getControlSocketPath(folder)} exceeds the maximum path length: stop the server to use offcut user and offcut key`;
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
    throw new Error(
      assets.folder === null
        ? `Missing: ${damaged.join(", ")}. Build again.`
        : `Damaged: ${damaged.join(", ")}. Remove ${assets.folder}.`,
    );
  return ok(assets, assets.folder ?? "run from the sources");
}

async function checkDatabase(config: Config) {
  const users = (await runAdminCommand(config, "user list", {})) as unknown[];
  return ok(null, `opened, ${users.length} accounts`);
}

async function checkFfmpeg(config: Config, assets: Assets) {
  const ffmpeg = await selectFfmpeg({ forced: config.ffmpeg, bundled: assets.ffmpeg, path: process.env.PATH });
  const about = `${ffmpeg.path}, version ${ffmpeg.version}, ${ffmpeg.bundled ? "bundled" : "from the system"}`;
  const outdated = findFfmpegWarning(ffmpeg, process.env.PATH);
  return outdated === null ? ok(ffmpeg, about) : warning(ffmpeg, `${about}. ${outdated}`);
}

const SANDBOX_DESCRIPTIONS = {
  bwrap: "bwrap: media processes have no network access and see only the folders of their job",
  unshare: "unshare: media processes have no network access, but can read the files of this user",
  none: "none: media processes have network access and can read the files of this user",
};

async function checkSandbox(config: Config, assets: Assets, ffmpeg: Ffmpeg) {
  const sandbox = await openSandbox(config, assets, ffmpeg);
  const about = SANDBOX_DESCRIPTIONS[sandbox.mode];
  return sandbox.reason === null ? ok(sandbox, about) : warning(sandbox, `${about} (${sandbox.reason})`);
}

async function checkEncoder(config: Config, ffmpeg: Ffmpeg, sandbox: Sandbox) {
  const encoders = await detectEncoders(ffmpeg, sandbox);
  const found = [...encoders.video, ...encoders.audio].join(", ");
  return ok(null, `${chooseEncoder(encoders, config.encoder)} in use; available: ${found}`);
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
    return ok(null, `English recognizer and voice activity detection loaded in ${seconds} s`);
  } finally {
    await engine.close();
    await rm(workDir, { recursive: true, force: true });
  }
}

async function checkInstalledModels(folder: string) {
  const { installed, damaged } = readInstalledModels(getModelsFolder(folder));
  const available = installed.map(({ manifest }) => `${manifest.name} (${manifest.languages.join(", ")})`).join("; ");
  const problems = damaged.map(({ name, problem }) => `${name} is damaged: ${problem}. Add it again`);
  if (problems.length > 0) return warning(null, [...problems, available].filter((text) => text !== "").join("; "));
  return ok(null, available || "none: recordings in languages other than English are cut at pauses only");
}

async function checkWebhooks({ webhooksAllowLoopback, webhooksAllowPrivate }: Config) {
  const allowed: string[] = [];
  if (webhooksAllowLoopback) allowed.push("this machine (webhooks_allow_loopback)");
  if (webhooksAllowPrivate) allowed.push("private networks (webhooks_allow_private)");
  if (allowed.length === 0) return ok(null, "public addresses only");
  return warning(null, `may also target ${allowed.join(" and ")}: any API key can make the server send requests there`);
}

/** Signs in to the mail server without sending a mail. */
async function checkMail(config: Config) {
  const { smtpUrl } = config;
  if (smtpUrl === null) return ok(null, "none: set smtp_url to send invitations, password resets and sign-in codes");
  const base = publicUrl(config, config.port);
  const from = getMailSender(config, base);
  const mailer = createMailer({ url: smtpUrl, from: () => from });
  const problem = await mailer.findProblem().finally(() => mailer.close());
  const { host } = new URL(smtpUrl);
  if (problem !== null) return warning(null, `${host} cannot be used: ${problem}`);
  const about = `${host}, mails are from ${from}, their links start with ${base}`;
  return config.publicUrl === null ? warning(null, `${about}: set public_url`) : ok(null, about);
}

async function checkPort(config: Config, folder: string) {
  const where = `${config.host}:${config.port}`;
  try {
    Bun.serve({ hostname: config.host, port: config.port, reusePort: false, fetch: () => new Response() }).stop(true);
    return ok(null, `${where} is free`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (await isServerRunning(folder)) return ok(null, `${where} is used by the running server of this data folder`);
    return warning(null, `${where} is used by another program`);
  }
}

/** Returns whether a server responds on the control socket of the folder. */
async function isServerRunning(folder: string): Promise<boolean> {
  const body = JSON.stringify({ command: "user list", args: {} });
  const response = await fetch("http://offcut/", { unix: getControlSocketPath(folder), method: "POST", body }).catch(
    () => null,
  );
  return response?.ok ?? false;
}
