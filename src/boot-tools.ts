/** Creates the tools that jobs run with: ffmpeg, a sandbox, the speech engine, and the commands that start this program as a child process. */
import { join } from "node:path";
import { type Config, ConfigError } from "./config";
import type { SpeechEngine } from "./domain/speech";
import type { Assets } from "./lib/assets";
import { findSandbox } from "./lib/find-sandbox";
import type { Log } from "./lib/log";
import type { Sandbox } from "./lib/sandbox";
import { createSemaphore } from "./lib/semaphore";
import { chooseEncoder, detectEncoders, type Encoders } from "./media/encoders";
import { type Ffmpeg, findFfmpegWarning, selectFfmpeg } from "./media/ffmpeg";
import { createSpeechEngine } from "./speech/engine";
import { getModelsFolder } from "./speech/models/installed-models";
import type { MediaTools } from "./work/jobs/media-tools";

/** The argument that starts the executable as a speech worker. The folder of the extracted assets follows, except in development. */
const SPEECH_COMMAND = "__speech";

const isCompiled = !process.execPath.endsWith("/bun") && !process.execPath.endsWith("/bun.exe");

/** The argument that starts the executable as the child process of a job. */
const JOB_COMMAND = "__job";

/** The argument that starts the executable on a restored backup. The scratch folder of the drill follows. */
const DRILL_COMMAND = "__drill";

/** Returns the command that starts this program as a child process. */
function selfCommand(...args: string[]): string[] {
  return isCompiled ? [process.execPath, ...args] : [process.execPath, join(import.meta.dir, "main.ts"), ...args];
}

/**
 * Returns the sandbox for processes that read uploaded media, which are this program and ffmpeg. Throws `ConfigError` when the configuration
 * requires `bwrap` and it does not work here.
 */
export async function openSandbox(config: Config, assets: Assets, ffmpeg: Ffmpeg): Promise<Sandbox> {
  const sandbox = await findSandbox({
    wanted: config.sandbox !== "off",
    programs: [process.execPath, ffmpeg.path],
    shared: [...(isCompiled ? [] : [join(import.meta.dir, "..")]), ...(assets.folder === null ? [] : [assets.folder])],
    probe: [ffmpeg.path, "-version"],
    path: process.env.PATH,
  });
  if (config.sandbox === "require" && sandbox.mode !== "bwrap")
    throw new ConfigError(`sandbox is "require", but ${sandbox.reason}`);
  return sandbox;
}

/** Returns the command that tries out a restored backup. The path of the scratch folder is added to it. */
export const drillCommand = (): string[] => selfCommand(DRILL_COMMAND);

/** Returns the command of the speech worker. */
export const speechCommand = (assets: Assets): string[] =>
  selfCommand(SPEECH_COMMAND, ...(assets.folder === null ? [] : [assets.folder]));

/**
 * Finds ffmpeg and a sandbox, and creates the tools that jobs run with. Speech models are read from the data folder. Throws `ConfigError`.
 * `speech` replaces the speech engine. Without `log`, nothing is logged.
 */
export async function openMediaTools(
  config: Config,
  assets: Assets,
  dataDir: string,
  { speech, log }: { speech: SpeechEngine | null; log: Log | null },
): Promise<Omit<MediaTools, "maxFileBytes" | "temporaryFolder">> {
  const ffmpeg = await selectFfmpeg({ forced: config.ffmpeg, bundled: assets.ffmpeg, path: process.env.PATH });
  log?.info("ffmpeg.selected", { path: ffmpeg.path, version: ffmpeg.version, bundled: ffmpeg.bundled });
  const outdated = findFfmpegWarning(ffmpeg, process.env.PATH);
  if (outdated !== null) log?.warn("ffmpeg.outdated", { message: outdated });
  const sandbox = await openSandbox(config, assets, ffmpeg);
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
    speech:
      speech ??
      createSpeechEngine({
        command: speechCommand(assets),
        modelsDir: getModelsFolder(dataDir),
        idleSeconds: config.speechIdleSeconds,
        log: (event, fields) => log?.info(event, { ...fields }),
      }),
    jobCommand: selfCommand(JOB_COMMAND),
    encoders: findEncoders,
    encoder: async () => chooseEncoder(await findEncoders(), config.encoder),
    encoderSemaphore: createSemaphore(Math.max(1, navigator.hardwareConcurrency)),
  };
}
