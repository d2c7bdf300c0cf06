/** Cuts and renders one recording on this machine without a server. It calls the same `run` functions as the jobs. */
import { link, mkdir, mkdtemp, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { getMediaFolder } from "../../blobs/folders";
import type { Config } from "../../config";
import { AppError, conflict } from "../../domain/errors";
import type { ProbedMedia, ResolvedOutput } from "../../domain/media";
import type { PlanJson } from "../../domain/plan-json";
import { type OutputRequest, resolveOutput } from "../../domain/render-output";
import type { Transcript } from "../../domain/speech";
import { flushFolder, flushToDisk, renameDurably, skipFlushesBelow } from "../../lib/atomic-file";
import { readSpeechAnalysis, requireProbed } from "../assets/prepared-files";
import { openJobChild } from "../job-child/child";
import { toMediaOptions } from "../job-child/plan-child";
import { findBlob, getBlob } from "../jobs/blob-files";
import { type CutInput, type CutOutput, runCut } from "../jobs/cut-run";
import type { BlobRef, JobStage, RunContext } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import { type PrepareCheckpoint, runPrepare } from "../jobs/prepare-run";
import { type RenderOutput, renderFile } from "../jobs/render-run";

export type OneShotTools = {
  config: Config;
  media: Omit<MediaTools, "maxFileBytes" | "temporaryFolder">;
  signal: AbortSignal;
  /** `share` is 0 to 1 within the stage. */
  onProgress(stage: JobStage, share: number): void;
};

/** A recording that is being processed, in one child process. Disposing ends it. */
export type OpenRecording = AsyncDisposable & {
  path: string;
  source: BlobRef;
  /** Receives the files of preparation, planning and rendering. */
  outputDir: string;
  media: MediaTools;
};

/**
 * `workDir` takes temporary files: about 60 MB for an hour of audio, and the whole rendered file. Errors: a missing
 * recording.
 */
export async function openRecording(tools: OneShotTools, path: string, workDir: string): Promise<OpenRecording> {
  const source = resolve(path);
  const { bytes } = await getBlob(source);
  const temporaryFolder = join(resolve(workDir), "work");
  const outputDir = join(resolve(workDir), "output");
  // The folders in which the runs let their child write.
  const writable = [join(temporaryFolder, "prepare", "scratch"), join(temporaryFolder, "render")];
  for (const folder of [outputDir, ...writable]) await mkdir(folder, { recursive: true });
  const media = { ...tools.media, temporaryFolder, maxFileBytes: () => null };
  const sharedChild = openJobChild({
    ...toMediaOptions(media, bytes),
    view: { readOnly: [source, outputDir], writable, devices: false },
  });
  return {
    path: source,
    source: { name: "source", bytes },
    outputDir,
    media: { ...media, sharedChild },
    [Symbol.asyncDispose]: sharedChild.end,
  };
}

function createContext<Checkpoint>(
  { signal, onProgress }: OneShotTools,
  { path, source, outputDir, media }: OpenRecording,
  job: string,
  checkpoint: (checkpoint: Checkpoint) => Promise<void>,
): RunContext<Checkpoint> {
  return {
    signal,
    shouldYield: () => false,
    progress: ({ stage, stageShare }) => onProgress(stage, stageShare),
    log: () => {},
    owner: "",
    getInputPath: (name) => (name === source.name ? path : join(outputDir, name)),
    outputDir,
    workDir: join(media.temporaryFolder, job),
    checkpoint,
  };
}

/**
 * Probes the recording and, with the scope `analysis`, transcribes it; with `voice`, only detects speech. `check` runs
 * between the two and may throw. Errors: those of `check`; `AppError` with the codes of assets (`unsupported_media`,
 * `corrupt_media`, …); the signal's reason when aborted.
 */
export async function prepareRecording(
  tools: OneShotTools,
  open: OpenRecording,
  request: { language: string | null; scope: "analysis" | "voice" | "probe"; check: (probed: ProbedMedia) => void },
): Promise<{ probed: ProbedMedia; transcript: Transcript | null }> {
  const { config } = tools;
  const files = getMediaFolder(open.outputDir);
  const checkProbed = async ({ kind }: PrepareCheckpoint): Promise<void> => {
    if (kind !== "probed") return;
    request.check(await requireProbed(files.probed));
  };
  await runPrepare(
    open.media,
    {
      blobs: { source: open.source },
      language: request.language,
      scope: request.scope,
      // Empty: the vocabulary corrects only transcripts shown on pages.
      vocabulary: [],
      limits: {
        maxDurationSeconds: config.maxDurationSeconds,
        maxSidePixels: config.maxSidePixels,
        maxStreams: config.maxStreams,
      },
    },
    createContext(tools, open, "prepare", checkProbed),
  );
  const analysis = await readSpeechAnalysis(files);
  return { probed: await requireProbed(files.probed), transcript: analysis?.transcript ?? null };
}

/**
 * Plans the cut of a prepared recording. Errors: `AppError` with the codes of cuts (`no_speech`, `script_mismatch`, …);
 * the signal's reason when aborted.
 */
export async function planRecording(
  tools: OneShotTools,
  open: OpenRecording,
  probed: ProbedMedia,
  request: Pick<CutInput, "script" | "language" | "options" | "vocabulary" | "explain">,
): Promise<Pick<CutOutput, "findings" | "stages" | "recognized"> & { plan: PlanJson }> {
  const files = getMediaFolder(open.outputDir);
  const [speechAnalysis, energy, audio] = await Promise.all([
    findBlob(files.speechAnalysis),
    findBlob(files.energy),
    findBlob(files.analysisAudio),
  ]);
  const { plan, findings, stages, recognized } = await runCut(
    open.media,
    {
      blobs: { probed: await getBlob(files.probed), speechAnalysis, energy, audio },
      ...request,
      duration: probed.info.duration,
    },
    createContext<never>(tools, open, "cut", noCheckpoint),
  );
  return { plan: JSON.parse(plan) as PlanJson, findings, stages, recognized };
}

/** Throws `AppError` `no_speech` when a recording has no audio track. */
export function requireAudio({ info }: ProbedMedia): void {
  if (info.audio.length === 0) throw new AppError("no_speech", "Recording has no audio track.");
}

const noCheckpoint = async (): Promise<void> => {};

/** Returns the requested output of the source. Errors: `AppError` `validation_error`. */
export function requireOutput(probed: ProbedMedia, request: OutputRequest): ResolvedOutput {
  const resolved = resolveOutput(probed, request);
  if (!resolved.ok) throw new AppError("validation_error", resolved.errors.map((error) => error.message).join(" "));
  return resolved.output;
}

/**
 * Renders a plan to `outputPath`, which gets a complete file or none. `replace` overwrites an existing file. Errors:
 * `AppError` `validation_error` if the source does not suit the format, `conflict`, `processing_failed`,
 * `storage_full`; the signal's reason when aborted.
 */
export async function renderRecording(
  tools: OneShotTools,
  open: OpenRecording,
  recording: { probed: ProbedMedia; plan: PlanJson },
  target: { request: OutputRequest; outputPath: string; replace: boolean },
): Promise<RenderOutput & { sizeBytes: number }> {
  const { probed, plan } = recording;
  const files = getMediaFolder(open.outputDir);
  tools.onProgress("rendering", 0);
  const result = await renderFile(
    open.media,
    {
      blobs: {
        source: open.source,
        probed: await getBlob(files.probed),
        speechAnalysis: await findBlob(files.speechAnalysis),
      },
      plan: JSON.stringify(plan),
      output: requireOutput(probed, target.request),
      duration: probed.info.duration,
    },
    createContext<never>(tools, open, "render", noCheckpoint),
  );
  const { name, bytes } = result.blobs[0]!;
  await moveOutput(join(open.outputDir, name), target.outputPath, target.replace);
  return { ...result, sizeBytes: bytes };
}

/**
 * Moves a finished file to its final path and flushes file and folder. Errors: `AppError` `conflict` if the path exists
 * and `replace` is false.
 */
export async function moveOutput(finished: string, outputPath: string, replace: boolean): Promise<void> {
  await flushToDisk(finished);
  if (!replace) {
    try {
      // Unlike a rename, a link fails if the file was created in the meantime.
      await link(finished, outputPath);
      return await flushFolder(dirname(outputPath));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST")
        throw conflict(`${outputPath} already exists. It was not overwritten.`);
      // The file system does not support hard links.
    }
  }
  await renameDurably(finished, outputPath);
}

/** Runs `body` with a temporary folder next to `neighbor`, on the same file system. Removes the folder in any case. */
export async function withWorkFolder<T>(neighbor: string, body: (workDir: string) => Promise<T>): Promise<T> {
  const workDir = resolve(await mkdtemp(join(dirname(neighbor), `.${basename(neighbor).slice(0, 80)}.offcut-`)));
  const restoreFlushes = skipFlushesBelow(workDir);
  try {
    return await body(workDir);
  } finally {
    restoreFlushes();
    await rm(workDir, { recursive: true, force: true });
  }
}
