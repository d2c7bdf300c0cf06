/**
 * Creates the tools that jobs run with: ffmpeg, a sandbox, the speech engine, and the commands that start this program
 * as a child process.
 */
import { join } from "node:path";
import { type Config, ConfigError } from "./config";
import type { SpeechEngine } from "./domain/speech";
import type { Assets } from "./lib/assets";
import { findSandbox, type ProgramOutput } from "./lib/find-sandbox";
import type { Log } from "./lib/log";
import { KEEP_PRIORITY, keepChildPriority } from "./lib/process";
import type { Sandbox } from "./lib/sandbox";
import { createSemaphore } from "./lib/semaphore";
import { chooseEncoder, detectEncoders, type Encoders } from "./media/encoders";
import {
  FFMPEG_QUERY,
  type Ffmpeg,
  findFfmpegWarning,
  listCandidates,
  queryFfmpeg,
  selectFfmpeg,
} from "./media/ffmpeg";
import { createSpeechEngine } from "./speech/engine";
import { getModelsFolder } from "./speech/models/installed-models";
import type { MediaTools } from "./work/jobs/media-tools";

/**
 * The argument that starts the executable as a speech worker. The folder of the extracted assets follows, except in
 * development.
 */
const SPEECH_COMMAND = "__speech";

const isCompiled = !process.execPath.endsWith("/bun") && !process.execPath.endsWith("/bun.exe");

/** The argument that starts the executable as the child process of a job. `KEEP_PRIORITY` may follow. */
const JOB_COMMAND = "__job";

/** The argument that starts the executable on a restored backup. The scratch folder of the drill follows. */
const DRILL_COMMAND = "__drill";

/** Returns the command that starts this program as a child process. */
function selfCommand(...args: string[]): string[] {
  return isCompiled ? [process.execPath, ...args] : [process.execPath, join(import.meta.dir, "main.ts"), ...args];
}

/**
 * Returns the sandbox for processes that read uploaded media, which are this program and ffmpeg. Throws `ConfigError`
 * when the configuration requires `bwrap` and it does not work here.
 */
export async function openSandbox(
  config: Config,
  assets: Assets,
  ffmpeg: Pick<Ffmpeg, "path">,
  onProbed?: (output: ProgramOutput) => void,
): Promise<Sandbox> {
  const sandbox = await findSandbox({
    wanted: config.sandbox !== "off",
    programs: [process.execPath, ffmpeg.path],
    shared: [...(isCompiled ? [] : [join(import.meta.dir, "..")]), ...(assets.folder === null ? [] : [assets.folder])],
    probe: [ffmpeg.path, ...FFMPEG_QUERY],
    ...(onProbed && { onProbed }),
    path: process.env.PATH,
  });
  if (config.sandbox === "require" && sandbox.mode !== "bwrap")
    throw new ConfigError(`sandbox is "require", but ${sandbox.reason}`);
  return sandbox;
}

/**
 * Finds ffmpeg and the sandbox. Both searches start ffmpeg, so the sandbox is tried with the one that will probably be
 * used, and the answer of that run counts for both.
 */
async function findPrograms(config: Config, assets: Assets): Promise<{ ffmpeg: Ffmpeg; sandbox: Sandbox }> {
  const path = process.env.PATH;
  const expected = config.ffmpeg ?? listCandidates(path)[0] ?? assets.ffmpeg;
  let answer: ProgramOutput | null = null;
  const trying = openSandbox(config, assets, { path: expected }, (output) => {
    answer = output;
  });
  trying.catch(() => {});
  const query = async (program: string) => {
    if (program === expected) await trying.catch(() => {});
    return program === expected && answer !== null ? answer : queryFfmpeg(program);
  };
  const ffmpeg = await selectFfmpeg({ forced: config.ffmpeg, bundled: assets.ffmpeg, path, query });
  return { ffmpeg, sandbox: await (ffmpeg.path === expected ? trying : openSandbox(config, assets, ffmpeg)) };
}

/** Returns the command that tries out a restored backup. The path of the scratch folder is added to it. */
export const drillCommand = (): string[] => selfCommand(DRILL_COMMAND);

export const speechCommand = (assets: Assets): string[] =>
  selfCommand(SPEECH_COMMAND, ...(assets.folder === null ? [] : [assets.folder]));

/**
 * Finds ffmpeg and a sandbox, and creates the tools that jobs run with. Speech models are read from the data folder.
 * Throws `ConfigError`. `speech` replaces the speech engine. Without `log`, nothing is logged. `foreground`: somebody
 * waits for this command, and whether it transcribes.
 */
export async function openMediaTools(
  config: Config,
  assets: Assets,
  dataDir: string,
  { speech, log, foreground }: { speech: SpeechEngine | null; log: Log | null; foreground?: { transcribes: boolean } },
): Promise<Omit<MediaTools, "maxFileBytes" | "temporaryFolder">> {
  if (foreground) keepChildPriority();
  const openedSpeech =
    speech ??
    createSpeechEngine({
      command: speechCommand(assets),
      modelsDir: getModelsFolder(dataDir),
      idleSeconds: config.speechIdleSeconds,
      log: (event, fields) => log?.info(event, { ...fields }),
    });
  if (foreground?.transcribes) openedSpeech.warmUp();
  const { ffmpeg, sandbox } = await findPrograms(config, assets);
  log?.info("ffmpeg.selected", { path: ffmpeg.path, version: ffmpeg.version, bundled: ffmpeg.bundled });
  const outdated = findFfmpegWarning(ffmpeg, process.env.PATH);
  if (outdated !== null) log?.warn("ffmpeg.outdated", { message: outdated });
  const { mode, reason } = sandbox;
  if (mode === "bwrap") log?.info("sandbox.selected", { mode });
  else log?.warn("sandbox.selected", { mode, reason });
  let encoders: Promise<Encoders> | null = null;
  const findEncoders = () => {
    encoders ??= detectEncoders(ffmpeg, sandbox);
    return encoders;
  };
  return {
    ffmpeg,
    sandbox,
    speech: openedSpeech,
    jobCommand: selfCommand(JOB_COMMAND, ...(foreground ? [KEEP_PRIORITY] : [])),
    encoders: findEncoders,
    encoder: async () => chooseEncoder(await findEncoders(), config.encoder),
    encoderSemaphore: createSemaphore(Math.max(1, navigator.hardwareConcurrency)),
  };
}
