/**
 * Defines the files that a worker needs for each job, and converts its result to the output of the job. Trusts only the
 * files that have arrived, not the worker's claims.
 */
import { mkdir, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { getMediaFolder, getRenderOutputName } from "../../blobs/folders";
import { AppError, type JobCode } from "../../domain/errors";
import { JOB_FACTS, JobAborted, type JobName } from "../../domain/jobs";
import type { MediaInfo } from "../../domain/media";
import { TICKS_PER_SECOND, toSeconds } from "../../domain/time";
import type { WorkerJob } from "../../domain/workers";
import { type Asset, findAssetById } from "../../store/assets";
import { findCutById } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { findRenderById } from "../../store/renders";
import { openPlanChild } from "../job-child/plan-child";
import { openScratchFolder } from "../job-child/scratch";
import { findBlob, getBlob, listBlobs } from "../jobs/blob-files";
import type { CutInput, CutOutput } from "../jobs/cut-run";
import type { JobInput, JobStage, LoadedJob, RunContext } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import { checkPlanFile } from "../jobs/plan-file-check";
import type { PrepareCheckpoint, PrepareInput, PrepareOutput } from "../jobs/prepare-run";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import type { ExecutionRequest } from "./execution";
import { getPrepareRules, type JobFolders, listEncoded, listInputs, listPrepared } from "./execution-files";
import {
  InvalidResultError,
  isWordsCheckpoint,
  parseAudioCheckpoint,
  parseCutResult,
  parseRenderFacts,
  parseWordsCheckpoint,
  requireProbeFacts,
} from "./result-shapes";

/** Parts of an `ExecutionRequest` that differ between jobs. */
type RemoteJob = Pick<ExecutionRequest, "check" | "checkpoint" | "files" | "finish" | "outputs">;

type RemoteJobParts = {
  root: string;
  tools: MediaTools;
  folders: JobFolders;
  context: Pick<RunContext<unknown>, "checkpoint" | "signal" | "workDir">;
  /** Called when all frames of a render were encoded, with the pixels of them. */
  onEncoded(pixels: number): void;
};

/** Definition of a job that workers run, on the head. */
export type RemoteJobDefinition<Input extends JobInput> = {
  /** Its stage while it runs on a worker, which reports none. */
  stage: JobStage;
  /**
   * Returns the files that a worker receives, those that it may send, and their checks. Checks throw
   * `InvalidResultError`.
   */
  describe(input: Input, parts: RemoteJobParts): Promise<RemoteJob>;
};

/** Its `describe` is given the input of the definition with the same name. */
export const REMOTE_JOBS: Record<WorkerJob, RemoteJobDefinition<never>> = {
  prepare: { stage: "transcribing", describe: describePrepare },
  cut: { stage: "planning", describe: describeCut },
  render: { stage: "rendering", describe: describeRender },
};

/** Returns the recording that a job works on; null when its subject was deleted. */
export async function findJobAsset(db: Queries, name: JobName, subjectId: string): Promise<Asset | null> {
  const { subject } = JOB_FACTS[name];
  if (subject === "asset") return findAssetById(db, subjectId);
  const found = await (subject === "cut" ? findCutById(db, subjectId) : findRenderById(db, subjectId));
  return found && findAssetById(db, found.asset_id);
}

/** A preparation has four, each of which may be sent again. Each is a write to the database. */
const MAX_CHECKPOINTS = 30;
/** Reports of recognized words beyond this are dropped. A day of speech has fewer segments. */
const MAX_WORD_REPORTS = 100_000;

/**
 * Maximum number of characters of these words, which the server keeps in memory: ten times the number in a day of
 * speech.
 */
const MAX_WORD_REPORT_CHARACTERS = 16_000_000;

async function describePrepare(
  input: PrepareInput,
  { root, tools, folders, context }: RemoteJobParts,
): Promise<RemoteJob> {
  const { name: source } = input.blobs.source;
  const { outputDir } = folders;
  const files = getMediaFolder(outputDir);
  const speechFiles = [files.analysisAudio, files.speechAnalysis, files.energy];
  const exists = (path: string) => Bun.file(path).exists();
  const hasImages = input.scope === "all" || input.scope === "images";
  const hasAnalysis = input.scope === "all" || input.scope === "analysis";
  const reported = new Set<PrepareCheckpoint["kind"]>();
  let received = 0;
  let wordReports = 0;
  let wordCharacters = 0;
  let hasAudio = false;

  async function requireFiles(paths: string[]): Promise<void> {
    for (const path of paths) if (!(await exists(path))) throw new InvalidResultError(`${basename(path)} is missing`);
  }

  async function readCheckpoint(sent: unknown): Promise<PrepareCheckpoint> {
    const blobs = await listBlobs(outputDir, source);
    const { kind } = (sent ?? {}) as { kind?: unknown };
    await requireFiles([files.probed]);
    switch (kind) {
      case "probed": {
        const facts = requireProbeFacts(sent);
        requireWithinLimits(facts.info, input.limits);
        hasAudio = facts.info.audio.length > 0 && hasAnalysis;
        return { kind, blobs, ...facts };
      }
      case "indexed":
        return { kind, blobs };
      case "audio": {
        if (hasAudio) await requireFiles(speechFiles);
        const hasWaveform = await exists(files.waveform);
        const { language } = parseAudioCheckpoint(sent);
        return { kind, blobs, hasWaveform, hasTranscript: await exists(files.transcript), language };
      }
      case "video":
        return { kind, blobs, hasPoster: await exists(files.poster) };
      default:
        throw new InvalidResultError("checkpoint");
    }
  }

  /**
   * Drops a report that is not valid or cannot be stored: the words are for people who wait, and the preparation does
   * not depend on them.
   */
  async function storeWords(sent: unknown): Promise<void> {
    if (++wordReports > MAX_WORD_REPORTS) return;
    try {
      const report = parseWordsCheckpoint(sent);
      wordCharacters += report.words.reduce((sum, { text }) => sum + text.length, 0);
      if (wordCharacters <= MAX_WORD_REPORT_CHARACTERS) await context.checkpoint(report);
    } catch (error) {
      if (error instanceof JobAborted) throw error;
      context.signal.throwIfAborted();
    }
  }

  return {
    files: [...(await listInputs(root, input, folders)), ...(await listPrepared(root, source, folders))],
    outputs: getPrepareRules(folders, input.limits),
    check: (paths) => checkPrepared(paths, outputDir, tools, context),
    checkpoint: async (sent) => {
      if (isWordsCheckpoint(sent)) return storeWords(sent);
      if (++received > MAX_CHECKPOINTS) throw new InvalidResultError("too many checkpoints");
      const checkpoint = await readCheckpoint(sent);
      await context.checkpoint(checkpoint);
      reported.add(checkpoint.kind);
    },
    finish: async (): Promise<PrepareOutput> => {
      if (input.scope === "plan") {
        // The worker may not have checked the plan.
        const getInputPath = (name: string) => join(folders.inputDir, name);
        const { signal } = context;
        return { blobs: [], keptSeconds: await checkPlanFile(tools, input.blobs.source, { signal, getInputPath }) };
      }
      const isComplete =
        reported.has("probed") && (!hasAnalysis || reported.has("audio")) && (!hasImages || reported.has("video"));
      if (!isComplete) throw new InvalidResultError("a checkpoint is missing");
      await requireFiles(hasAudio ? [files.probed, ...speechFiles] : [files.probed]);
      return { blobs: await listBlobs(outputDir, source) };
    },
  };
}

/** Checks the files that are parsed later, by jobs and for pages, in a child process. */
async function checkPrepared(
  paths: ReadonlyMap<string, string>,
  outputDir: string,
  tools: MediaTools,
  { signal }: RemoteJobParts["context"],
): Promise<void> {
  const { probed, speechAnalysis, energy, transcript, transcriptColumns } = getMediaFolder(outputDir);
  const parsed = Object.entries({ probed, speechAnalysis, energy, transcript, transcriptColumns });
  const files = parsed.flatMap(([what, path]) => {
    const arrived = paths.get(basename(path));
    return arrived === undefined ? [] : [[what, arrived] as const];
  });
  if (files.length === 0) return;
  await using child = openPlanChild(
    tools,
    files.map(([, path]) => path),
  );
  // A file that exceeds the limits of the child is not valid.
  const problem = await child
    .run("checkPrepared", Object.fromEntries(files), { signal })
    .catch((error) => throwAsInvalid(error, "processing_failed"));
  if (problem !== null) throw new InvalidResultError(problem);
}

/** Throws the verdict of a check as `InvalidResultError`, and other errors as they are: the worker is not at fault. */
function throwAsInvalid(error: unknown, verdict: JobCode): never {
  throw error instanceof AppError && error.code === verdict ? new InvalidResultError(error.message) : error;
}

/** The user pays for the duration. */
function requireWithinLimits({ duration, video }: MediaInfo, limits: PrepareInput["limits"]): void {
  const longestSide = Math.max(video?.codedWidth ?? 0, video?.codedHeight ?? 0);
  if (duration === 0 || duration > limits.maxDurationSeconds * TICKS_PER_SECOND || longestSide > limits.maxSidePixels)
    throw new InvalidResultError("the recording exceeds the limits");
}

async function describeCut(input: CutInput, { root, tools, folders, context }: RemoteJobParts): Promise<RemoteJob> {
  return {
    files: await listInputs(root, input, folders),
    outputs: [],
    finish: async (sent): Promise<CutOutput> => {
      const result = parseCutResult(sent);
      await checkPlan(result.plan, tools, context);
      return { ...result, blobs: [], findings: [], stages: [] };
    },
  };
}

/** Checks the plan as if a user had uploaded it: a worker may have sent any text. */
async function checkPlan(
  plan: string,
  tools: MediaTools,
  { workDir, signal }: RemoteJobParts["context"],
): Promise<void> {
  await mkdir(workDir, { recursive: true });
  try {
    await using scratch = await openScratchFolder(join(workDir, "plan"));
    const path = join(scratch.path, "plan.json");
    await writeFile(path, plan);
    await checkPlanFile(tools, await getBlob(path), { signal, getInputPath: () => path });
  } catch (error) {
    throwAsInvalid(error, "unsupported_media");
  } finally {
    await rmdir(workDir).catch(() => {});
  }
}

async function describeRender(
  input: RenderInput,
  { root, tools, folders, context, onEncoded }: RemoteJobParts,
): Promise<RemoteJob> {
  const { format, video, matchesSource } = input.output;
  const name = getRenderOutputName(format);
  const path = join(folders.outputDir, name);
  return {
    files: [...(await listInputs(root, input, folders)), ...(await listEncoded(root, context.workDir))],
    outputs: [{ name, dir: folders.outputDir, maxBytes: tools.maxFileBytes() ?? Number.MAX_SAFE_INTEGER }],
    finish: async (sent): Promise<RenderOutput> => {
      const { signal } = context;
      const { output, frames } = await finishRender(tools, { input, ...folders }, { path, signal }, sent);
      if (video !== null && !matchesSource) onEncoded(frames * video.width * video.height);
      return output;
    },
  };
}

/**
 * Returns the output of a render whose file is at `path`, and the number of frames of its video. A child process reads
 * the file: a hijacked worker may have chosen every byte. Removes a file that does not match the request, and throws
 * `InvalidResultError`. Other errors: `JobKilled`; the signal's reason.
 */
export async function finishRender(
  tools: Pick<MediaTools, "jobCommand" | "sandbox">,
  { input: { blobs, plan, output, duration }, inputDir }: Pick<LoadedJob<RenderInput>, "input" | "inputDir">,
  { path, signal }: { path: string; signal: AbortSignal },
  sent: unknown,
): Promise<{ output: RenderOutput; frames: number }> {
  const facts = parseRenderFacts(sent);
  const blob = await findBlob(path);
  if (blob === null || blob.bytes === 0) throw new InvalidResultError("the rendered file is missing");
  const probed = join(inputDir, blobs.probed.name);
  await using child = openPlanChild(tools, [probed, dirname(path)]);
  const options = { signal, recordingSeconds: toSeconds(duration) };
  const { problem, frames } = await child.run("checkRender", { probed, plan, output, path }, options);
  if (problem === null) return { output: { blobs: [blob], ...facts }, frames };
  await rm(path, { force: true });
  throw new InvalidResultError(problem);
}
