/** Runs the steps `render` at several places: connects `runSplitRender` to the places, the workers and the folders of a render. */
import { join } from "node:path";
import { getRenderOutputName } from "../../blobs/folders";
import { ExecutionLost, type Job } from "../../domain/jobs";
import type { EncodingFacts } from "../../domain/workers";
import { findBlob } from "../jobs/blob-files";
import type { JobOutput, LoadedJob, RunContext } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import { type ChunkInput, runChunk, runJoin, runSplit, type SplitInput } from "../jobs/split-run";
import type { CoreNeeds } from "../needs";
import { createChunkChecker } from "./chunk-check";
import { describeFile, getRule, listInputs } from "./execution-files";
import type { ExecutionTask } from "./execution-request";
import type { PlaceSpeeds } from "./place-speeds";
import { LOCAL, type PlaceHold, type Places } from "./places";
import { requireRenderedFile } from "./render-check";
import { InvalidResultError, parseRenderFacts } from "./result-shapes";
import type { PieceCall, SplitExecutions, SplitPlace, SplitSlot } from "./split-executions";
import { runSplitRender } from "./split-render";
import type { StepNeeds } from "./step-needs";

/** Runs one execution on the worker of `hold`, which the caller releases. Errors: those of `Executions.run` and of `finish`. */
export type RunExecution = (hold: PlaceHold, task: ExecutionTask) => Promise<unknown>;

type SplitJobParts = {
  services: CoreNeeds;
  tools: MediaTools;
  places: Pick<Places, "acquire" | "list">;
  runExecution: RunExecution;
  speeds: PlaceSpeeds;
  /** Returns what this machine encodes with; null while that is not known. */
  findLocalEncoding(): EncodingFacts | null;
};

/** One step `render` that a runner has claimed. */
export type SplitJob = {
  job: Job;
  loaded: LoadedJob<RenderInput>;
  needs: StepNeeds;
  context: RunContext<unknown>;
  /** Runs the render at one place. */
  runWhole(): Promise<RenderOutput>;
};

/** Returns and errors: as `runSplitRender`. */
export type SplitJobRunner = (job: SplitJob) => Promise<RenderOutput>;

const TICK_MS = 1_000;
/** Creates the function that runs renders at several places. */
export function createSplitJobRunner(parts: SplitJobParts): SplitJobRunner {
  return async (splitJob) => {
    const { loaded, context, runWhole } = splitJob;
    await using checker = createChunkChecker(parts.tools, context.workDir);
    return await runSplitRender({
      input: loaded.input,
      workDir: context.workDir,
      outputDir: loaded.outputDir,
      outputName: getRenderOutputName(loaded.input.output.format),
      signal: context.signal,
      shouldYield: context.shouldYield,
      progress: (share) => context.progress({ share, stage: "rendering", stageShare: share }),
      log: context.log,
      executions: createSplitExecutions(parts, splitJob),
      runWhole,
      checkChunk: checker.check,
      tickMs: TICK_MS,
      clock: () => performance.now(),
    });
  };
}

function createSplitExecutions(parts: SplitJobParts, splitJob: SplitJob): SplitExecutions {
  const { places, speeds } = parts;
  const { job, loaded, needs, context } = splitJob;
  const holds = new WeakMap<SplitSlot, PlaceHold>();

  const listPlaces = (): SplitPlace[] =>
    places.list(needs).flatMap(({ id, slots, free, worker }) => {
      const encoding = worker === null ? parts.findLocalEncoding() : worker.announcement.encoding;
      const pixelsPerSecond = speeds.get(id);
      return encoding === null ? [] : [{ id, isLocal: id === LOCAL, slots, free, encoding, pixelsPerSecond }];
    });

  return {
    listPlaces,
    acquire: async (accepts, signal) => {
      const { stepId, workspaceId } = job;
      const hold = await places.acquire({ stepId, workspaceId, needs, runsAlone: false, accepts, signal });
      const slot = { placeId: hold.placeId, release: hold.release };
      holds.set(slot, hold);
      return slot;
    },
    run: async <Output extends JobOutput>(slot: SplitSlot, call: PieceCall) => {
      const hold = holds.get(slot)!;
      const run = hold.placeId === LOCAL ? runHere(parts, context, call) : runRemotely(parts, splitJob, hold, call);
      return (await run) as Output;
    },
    isLost: (error) => error instanceof ExecutionLost,
    recordSpeed: (placeId, measured) => speeds.record(placeId, measured, loaded.input.output),
  };
}

/** Runs a piece on this machine. */
function runHere({ tools }: SplitJobParts, context: RunContext<unknown>, call: PieceCall): Promise<JobOutput> {
  const pieceContext: RunContext = {
    ...context,
    signal: call.signal,
    shouldYield: () => false,
    progress: ({ share }) => call.onProgress(share),
    outputDir: call.outputDir,
    workDir: call.workDir,
    checkpoint: () => Promise.reject(new Error("a piece of a render has no checkpoints")),
  };
  switch (call.kind) {
    case "split":
      return runSplit(tools, call.input as SplitInput, pieceContext);
    case "chunk":
      return runChunk(tools, call.input as ChunkInput, pieceContext);
    case "join":
      return runJoin(tools, call.input as RenderInput, pieceContext);
  }
}

/** Runs a piece on the worker of `hold`. */
async function runRemotely(
  { services, tools, runExecution }: SplitJobParts,
  { job, loaded, needs, context }: SplitJob,
  hold: PlaceHold,
  call: PieceCall,
): Promise<unknown> {
  const { root } = services.folders;
  const work = call.workFiles.map((name) => describeFile(root, join(context.workDir, name), "work"));
  const maxFileBytes = tools.maxFileBytes() ?? Number.MAX_SAFE_INTEGER;
  return runExecution(hold, {
    kind: call.kind,
    job,
    assetId: needs.assetId,
    input: call.input,
    files: [...(await listInputs(root, loaded.input, loaded)), ...(await Promise.all(work))],
    outputs: call.outputs.map(({ name, maxBytes }) => getRule(call.outputDir, name, Math.min(maxBytes, maxFileBytes))),
    context: { signal: call.signal, shouldYield: () => false, workDir: call.workDir, progress: call.onProgress },
    ...(call.kind === "join" ? { finish: (output) => finishJoin(tools, loaded, call, output) } : {}),
  });
}

/** Only the file that has arrived counts. */
async function finishJoin(
  tools: MediaTools,
  { input, inputDir }: LoadedJob<RenderInput>,
  { outputDir, outputs, signal }: PieceCall,
  sent: unknown,
): Promise<RenderOutput> {
  const facts = parseRenderFacts(sent);
  const path = join(outputDir, outputs[0]!.name);
  const blob = await findBlob(path);
  if (blob === null || blob.bytes === 0) throw new InvalidResultError("the rendered file is missing");
  await requireRenderedFile(tools, input, { inputDir, path, signal });
  return { blobs: [blob], ...facts };
}
