/** The main job without a server: one recording on this machine, planned and rendered by the same engine that the jobs use. */
import { link, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Config } from "../config";
import { AppError } from "../domain/errors";
import type { ProbedMedia, RenderResult, ResolvedOutput } from "../domain/media";
import type { CutOptions, Plan } from "../domain/plan";
import { planToJson } from "../domain/plan-json";
import { type OutputFormat, resolveOutput } from "../domain/render-output";
import type { SpeechEngine, Transcript } from "../domain/speech";
import { toSeconds } from "../domain/time";
import type { Sandbox } from "../lib/sandbox";
import { createSemaphore } from "../lib/semaphore";
import type { Ffmpeg } from "../media/ffmpeg";
import { type JobChild, openJobChild } from "./job-child/child";
import { maxMediaMemoryBytes, probeTimeLimits } from "./job-child/limits";
import { commitFile, openScratchFolder, type ScratchFolder } from "./job-child/scratch";
import { shareSemaphore } from "./job-child/shared-semaphore";
import { planCut } from "./plan-cut";
import { readProbed } from "./prepared-files";

/** What a recording goes through, in this order. */
export type OneShotStage = "reading" | "extracting" | "listening" | "planning" | "rendering";

export type OneShotTools = {
  config: Config;
  ffmpeg: Ffmpeg;
  sandbox: Sandbox;
  /** Program and arguments of the child process that reads recordings. */
  jobCommand: string[];
  speech: SpeechEngine;
  /** The video encoder in use; asked only when a picture is rendered. */
  encoder(): Promise<string>;
  signal: AbortSignal;
  /** `share` is 0 to 1 within the stage; 0 when it begins. */
  onProgress(stage: OneShotStage, share: number): void;
};

export type Recording = { script: string; language: string | null; options: CutOptions };

/** A recording that is being worked on: the child process that reads it, what it changes, and what was taken over from there. */
export type OpenRecording = AsyncDisposable & {
  path: string;
  child: JobChild;
  scratch: ScratchFolder;
  workDir: string;
  /** The file that holds what probing found. */
  probedPath: string;
};

/** Starts the child process of a recording. `workDir` takes temporary files, of up to about 60 MB an hour and a whole render. */
export async function openRecording(tools: OneShotTools, path: string, workDir: string): Promise<OpenRecording> {
  const source = resolve(path);
  const taken = join(resolve(workDir), "taken");
  await mkdir(taken);
  const scratch = await openScratchFolder(join(resolve(workDir), "scratch"));
  const child = openJobChild({
    command: tools.jobCommand,
    sandbox: tools.sandbox,
    view: { readOnly: [source, taken], writable: [scratch.path], devices: true },
    limitCode: "processing_failed",
    maxMemoryBytes: maxMediaMemoryBytes(Bun.file(source).size),
  });
  const dispose = () => child.end();
  return {
    ...{ path: source, child, scratch, workDir: taken, probedPath: join(taken, "probed.json") },
    [Symbol.asyncDispose]: dispose,
  };
}

/**
 * Finds out what the file is. Errors: `AppError` with the codes of assets (`unsupported_media`, `corrupt_media`, `media_limits_exceeded`, …),
 * the signal's reason when aborted.
 */
export async function readRecording(tools: OneShotTools, recording: OpenRecording): Promise<ProbedMedia> {
  const { config, ffmpeg, signal } = tools;
  const { child, scratch, path, probedPath } = recording;
  tools.onProgress("reading", 0);
  const limits = {
    maxDurationSeconds: config.maxDurationSeconds,
    maxSidePixels: config.maxSidePixels,
    maxStreams: config.maxStreams,
  };
  await scratch.createOnce(probedPath, (probed) =>
    child.run(
      "probe",
      { ffmpeg, source: path, probed, limits },
      { signal, limits: probeTimeLimits(Bun.file(path).size) },
    ),
  );
  const probed = await readProbed({ probed: probedPath });
  if (probed === null) throw new Error("the recording has not been probed");
  return probed;
}

/**
 * Transcribes the recording and plans its cut. Errors: `AppError` with the codes of cuts (`no_speech`, `script_mismatch`, …), the signal's
 * reason when aborted.
 */
export async function planRecording(
  tools: OneShotTools,
  open: OpenRecording,
  recording: Recording,
  probed: ProbedMedia,
): Promise<{ plan: Plan; transcript: Transcript | null }> {
  const { ffmpeg, signal, onProgress } = tools;
  const { child, scratch, path, probedPath, workDir } = open;
  const { language, options, script } = recording;
  if (probed.info.audio.length === 0)
    throw new AppError("no_speech", "There is no sound in the recording, so there is nothing to cut by.");
  onProgress("extracting", 0);
  const pcm = { path: join(workDir, "analysis.audio") };
  const recordingSeconds = toSeconds(probed.info.duration);
  await scratch.createOnce(pcm.path, (outputPath) =>
    child.run(
      "extract",
      { ffmpeg, source: path, probed: probedPath, outputPath },
      { signal, recordingSeconds, onProgress: (share) => onProgress("extracting", share) },
    ),
  );
  onProgress("listening", 0);
  const listening = await tools.speech.analyze(pcm, {
    language,
    signal,
    onProgress: (share) => onProgress("listening", share),
  });
  onProgress("planning", 0);
  const plan = await planCut({
    listening,
    probed,
    script,
    options,
    language,
    force: (requests) => tools.speech.forcedAlign(pcm, requests, { signal }),
  });
  return { plan, transcript: listening.transcript };
}

/** What the source becomes in the format (null: the usual one). Errors: `AppError` `validation_error` when it cannot become that. */
export function requireOutput(probed: ProbedMedia, format: OutputFormat | null): ResolvedOutput {
  const resolved = resolveOutput(probed, format === null ? {} : { format });
  if (!resolved.ok) throw new AppError("validation_error", resolved.errors.map((error) => error.message).join(" "));
  return resolved.output;
}

/**
 * Renders a plan into `outputPath`, which is whole or not there; `replace` allows to overwrite. Errors: `AppError` `validation_error`
 * when the source cannot become the format, `conflict`, `processing_failed`, `storage_full`; the signal's reason when aborted.
 */
export async function renderRecording(
  tools: OneShotTools,
  open: OpenRecording,
  source: { probed: ProbedMedia; plan: Plan },
  target: { format: OutputFormat | null; outputPath: string; replace: boolean },
): Promise<RenderResult> {
  const { ffmpeg, signal, onProgress } = tools;
  const { child, scratch, path, probedPath, workDir } = open;
  onProgress("rendering", 0);
  const output = requireOutput(source.probed, target.format);
  const made = join(scratch.path, `output.${output.format}`);
  const finished = join(workDir, `output.${output.format}`);
  const jobs = Math.max(1, navigator.hardwareConcurrency);
  const lent = shareSemaphore(createSemaphore(jobs));
  const result = await child.run(
    "render",
    {
      ...{ ffmpeg, source: path, probed: probedPath, output, jobs, encoder: await tools.encoder() },
      ...{ plan: JSON.stringify(planToJson(source.plan)), workDir: join(scratch.path, "render"), outputPath: made },
    },
    {
      ...{ signal, recordingSeconds: toSeconds(source.probed.info.duration), callbacks: lent.callbacks },
      onProgress: (share) => onProgress("rendering", share),
    },
  );
  await child.end();
  await commitFile(made, finished);
  await moveTo(finished, target.outputPath, target.replace);
  return result;
}

async function moveTo(finished: string, place: string, replace: boolean): Promise<void> {
  if (!replace) {
    try {
      // Unlike a rename, this fails when something came to be there in the meantime.
      return await link(finished, place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST")
        throw new AppError("conflict", `${place} exists already; it was not overwritten.`);
      // A file system without hard links.
    }
  }
  await rename(finished, place);
}

/** Runs `body` with a folder beside `neighbour`, on the same file system, and removes the folder whatever happens. */
export async function withWorkFolder<T>(neighbour: string, body: (workDir: string) => Promise<T>): Promise<T> {
  const workDir = await mkdtemp(join(dirname(neighbour), `.${basename(neighbour).slice(0, 80)}.offcut-`));
  try {
    return await body(workDir);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}
