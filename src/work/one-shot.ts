/** The main job without a server: one recording on this machine, planned and rendered by the same engine that the jobs use. */
import { link, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Config } from "../config";
import { AppError } from "../domain/errors";
import type { Probed, RenderResult, ResolvedOutput } from "../domain/media";
import type { CutOptions, Plan } from "../domain/plan";
import { planSegments, planToJson } from "../domain/plan-json";
import { type OutputFormat, resolveOutput } from "../domain/render-output";
import type { SpeechEngine, Transcript } from "../domain/speech";
import { extractSpeechPcm } from "../media/extract";
import type { Ffmpeg } from "../media/ffmpeg";
import { probe } from "../media/probe";
import { sniff } from "../media/probing/sniff";
import { renderMedia } from "../media/render";
import { planCut } from "./plan-cut";

/** What a recording goes through, in this order. */
export type Stage = "reading" | "extracting" | "listening" | "planning" | "rendering";

export type OneShotTools = {
  config: Config;
  ffmpeg: Ffmpeg;
  speech: SpeechEngine;
  /** The video encoder in use; asked only when a picture is rendered. */
  encoder(): Promise<string>;
  signal: AbortSignal;
  /** `share` is 0 to 1 within the stage; 0 when it begins. */
  onProgress(stage: Stage, share: number): void;
};

export type Recording = { path: string; script: string; language: string | null; options: CutOptions };

const SNIFFED_BYTES = 64 * 1024;

/**
 * What the file is. Errors: `AppError` with the codes of assets (`unsupported_media`, `corrupt_media`, `media_limits_exceeded`, …),
 * the signal's reason when aborted.
 */
export async function readRecording(tools: OneShotTools, path: string): Promise<Probed> {
  const { config, ffmpeg, signal } = tools;
  tools.onProgress("reading", 0);
  const sniffed = await sniff(new Uint8Array(await Bun.file(path).slice(0, SNIFFED_BYTES).arrayBuffer()));
  if (!sniffed) throw new AppError("unsupported_media", "The file is not audio or video of a known format.");
  const limits = { durationSeconds: config.maxDurationSeconds, side: config.maxSidePixels, streams: config.maxStreams };
  return probe({ path, sniffed, ffmpeg, limits, signal });
}

/**
 * Listens to the recording and plans its cut. `workDir` takes a temporary file of up to about 60 MB an hour. Errors: `AppError` with the codes of cuts
 * (`no_speech`, `script_mismatch`, …), the signal's reason when aborted.
 */
export async function planRecording(
  tools: OneShotTools,
  recording: Recording,
  probed: Probed,
  workDir: string,
): Promise<{ plan: Plan; transcript: Transcript | null }> {
  const { ffmpeg, signal, onProgress } = tools;
  const { path, language, options, script } = recording;
  if (probed.info.audio.length === 0)
    throw new AppError("no_speech", "There is no sound in the recording, so there is nothing to cut by.");
  onProgress("extracting", 0);
  const pcm = { path: join(workDir, "analysis.audio") };
  await extractSpeechPcm({
    ffmpeg,
    path,
    probed,
    outputPath: pcm.path,
    signal,
    onProgress: (share) => onProgress("extracting", share),
  });
  onProgress("listening", 0);
  const listening = await tools.speech.listen(pcm, {
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
    force: (requests) => tools.speech.force(pcm, requests, { signal }),
  });
  return { plan, transcript: listening.transcript };
}

/** What the source becomes in the format (null: the usual one). Errors: `AppError` `validation_error` when it cannot become that. */
export function requireOutput(probed: Probed, format: OutputFormat | null): ResolvedOutput {
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
  source: { path: string; probed: Probed; plan: Plan },
  target: { format: OutputFormat | null; outputPath: string; workDir: string; replace: boolean },
): Promise<RenderResult> {
  const { signal, onProgress } = tools;
  onProgress("rendering", 0);
  const output = requireOutput(source.probed, target.format);
  const workDir = join(target.workDir, "render");
  await mkdir(workDir);
  const finished = join(target.workDir, `output.${output.format}`);
  const result = await renderMedia(
    {
      sourcePath: source.path,
      probed: source.probed,
      segments: planSegments(planToJson(source.plan)),
      output,
      workDir,
      outputPath: finished,
    },
    {
      ffmpeg: tools.ffmpeg,
      encoder: await tools.encoder(),
      jobs: Math.max(1, navigator.hardwareConcurrency),
      signal,
      onProgress: (share) => onProgress("rendering", share),
      log: () => {},
    },
  );
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
