/** What a worker needs for each job, and how what it returns becomes the output of the job. Only files that have arrived count, not what it says. */
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { getMediaFolder, getRenderOutputName } from "../../blobs/folders";
import { AppError } from "../../domain/errors";
import type { MediaInfo } from "../../domain/media";
import { TICKS_PER_SECOND } from "../../domain/time";
import type { WorkerJob } from "../../domain/workers";
import { openPlanChild } from "../job-child/plan-child";
import { openScratchFolder } from "../job-child/scratch";
import { findBlob, getBlob, listBlobs } from "../jobs/blob-files";
import type { CutInput, CutOutput } from "../jobs/cut-run";
import type { JobInput, JobOutput, RunContext } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import { checkPlanFile } from "../jobs/plan-file-check";
import type { PrepareCheckpoint, PrepareInput, PrepareOutput } from "../jobs/prepare-run";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import {
  getPrepareRules,
  getRenderRules,
  type JobFolders,
  listEncoded,
  listInputs,
  listPrepared,
} from "./execution-files";
import type { ReadableFile } from "./execution-request";
import type { OutputRule } from "./incoming-files";
import { requireRenderedFile } from "./render-check";
import { InvalidResultError, parseCutResult, parseRenderFacts, requireProbeFacts } from "./result-shapes";

/** The remote form of one job. */
export type RemoteJob = {
  files: ReadableFile[];
  outputs: OutputRule[];
  /** Checks new files before they are in the folder of the job. Throws `InvalidResultError`. */
  check(paths: ReadonlyMap<string, string>): Promise<void>;
  checkpoint(checkpoint: unknown): Promise<void>;
  /** Returns the output of the job. Throws when the worker's is not one. */
  finish(output: unknown): Promise<JobOutput>;
};

type RemoteJobContext = Pick<RunContext<unknown>, "checkpoint" | "signal" | "workDir">;
type RemoteJobParts = { root: string; tools: MediaTools; folders: JobFolders; context: RemoteJobContext };

/** Describes a job with its input, which is that of its definition. */
export function describeRemoteJob(job: WorkerJob, input: JobInput, parts: RemoteJobParts): Promise<RemoteJob> {
  switch (job) {
    case "prepare":
      return describePrepare(input as PrepareInput, parts);
    case "cut":
      return describeCut(input as CutInput, parts);
    case "render":
      return describeRender(input as RenderInput, parts);
  }
}

/** A preparation has three, each of which may be sent again. Each is a write to the database. */
const MAX_CHECKPOINTS = 30;

const noFiles = async (): Promise<void> => {};
const noCheckpoint = (): Promise<void> => Promise.reject(new InvalidResultError("checkpoint"));

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
      case "audio": {
        if (hasAudio) await requireFiles(speechFiles);
        const hasWaveform = await exists(files.waveform);
        return { kind, blobs, hasWaveform, hasTranscript: await exists(files.transcript) };
      }
      case "video":
        return { kind, blobs, hasPoster: await exists(files.poster) };
      default:
        throw new InvalidResultError("checkpoint");
    }
  }

  return {
    files: [...(await listInputs(root, input, folders)), ...(await listPrepared(root, source, folders))],
    outputs: getPrepareRules(folders, input.limits),
    check: (paths) => checkPrepared(paths, outputDir, tools, context),
    checkpoint: async (sent) => {
      if (++received > MAX_CHECKPOINTS) throw new InvalidResultError("too many checkpoints");
      const checkpoint = await readCheckpoint(sent);
      await context.checkpoint(checkpoint);
      reported.add(checkpoint.kind);
    },
    finish: async (): Promise<PrepareOutput> => {
      if (input.scope === "plan") {
        // Nothing else shows that the worker has checked it.
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
  { signal }: RemoteJobContext,
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
  const problem = await child.run("checkPrepared", Object.fromEntries(files), { signal }).catch((error) => {
    // What brings the child to its limits is no such file.
    if (error instanceof AppError) return error.message;
    throw error;
  });
  if (problem !== null) throw new InvalidResultError(problem);
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
    check: noFiles,
    checkpoint: noCheckpoint,
    finish: async (sent): Promise<CutOutput> => {
      const { plan, recognized } = parseCutResult(sent);
      await checkPlan(plan, tools, context);
      return { blobs: [], plan, findings: [], recognized };
    },
  };
}

/** Checks the plan as if a user had uploaded it: a worker may have sent any text. */
async function checkPlan(plan: string, tools: MediaTools, { workDir, signal }: RemoteJobContext): Promise<void> {
  await mkdir(workDir, { recursive: true });
  try {
    await using scratch = await openScratchFolder(join(workDir, "plan"));
    const path = join(scratch.path, "plan.json");
    await writeFile(path, plan);
    await checkPlanFile(tools, await getBlob(path), { signal, getInputPath: () => path });
  } catch (error) {
    if (error instanceof AppError) throw new InvalidResultError(error.message);
    throw error;
  } finally {
    await rmdir(workDir).catch(() => {});
  }
}

async function describeRender(
  input: RenderInput,
  { root, tools, folders, context }: RemoteJobParts,
): Promise<RemoteJob> {
  const { format } = input.output;
  return {
    files: [...(await listInputs(root, input, folders)), ...(await listEncoded(root, context.workDir))],
    outputs: getRenderRules(folders, format, tools.maxFileBytes()),
    check: noFiles,
    checkpoint: noCheckpoint,
    finish: async (sent): Promise<RenderOutput> => {
      const facts = parseRenderFacts(sent);
      const path = join(folders.outputDir, getRenderOutputName(format));
      const blob = await findBlob(path);
      if (blob === null || blob.bytes === 0) throw new InvalidResultError("the rendered file is missing");
      const frames = await requireRenderedFile(tools, input, {
        inputDir: folders.inputDir,
        path,
        signal: context.signal,
      });
      if (facts.encoding !== undefined) facts.encoding.frames = Math.min(facts.encoding.frames, frames);
      return { blobs: [blob], ...facts };
    },
  };
}
