/** The executions of a split render: what it needs of the places, and how that is done here and on workers. */
import { join } from "node:path";
import { updateSpeed } from "../../domain/chunk-sizes";
import type { Job, JobPlaces } from "../../domain/jobs";
import { LOCAL } from "../../domain/places";
import type { EncodingFacts } from "../../domain/worker-messages";
import type { ExecutionKind } from "../../domain/workers";
import type { JobOutput, LoadedJob, RunContext } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import { type RenderInput, runRender } from "../jobs/render-run";
import { runChunk, runSplit } from "../jobs/split-run";
import { describeFile, getRule, listInputs } from "./execution-files";
import type { Executions } from "./executions";
import { finishRender } from "./remote-render";
import type { WorkerList, WorkerNeeds } from "./worker-list";

/**
 * A place that can run pieces of renders. `pixelsPerSecond` of one slot, of the output; null when it has not been
 * measured.
 */
export type SplitPlace = {
  id: string;
  /** Whether the place is this machine, which is trusted and has all files. */
  isLocal: boolean;
  slots: number;
  free: number;
  encoding: EncodingFacts;
  pixelsPerSecond: number | null;
};

/** One execution. Inputs are the source and its probe result, and files of the render's work folder. */
export type PieceCall = {
  kind: Extract<ExecutionKind, "split" | "chunk" | "join">;
  /** Plain JSON, the input of the kind's `run`. */
  input: object;
  /** Names of files in the render's work folder that the execution needs. */
  workFiles: string[];
  /** Receives the output files, which are complete when the call resolves. */
  outputDir: string;
  /** The work folder when the execution runs on this machine. */
  workDir: string;
  /** The names that its output files may have, and their maximum size. */
  outputs: { name: string; maxBytes: number }[];
  signal: AbortSignal;
  onProgress(share: number): void;
};

/** The places of a render. */
export type SplitExecutions = Pick<JobPlaces, "request"> & {
  /** Lists the places that can run pieces now, including those without a free slot. */
  listPlaces(): SplitPlace[];
  /**
   * Errors: those of the run; `ExecutionLost`, which says nothing about the piece; the signal's reason, after the
   * execution has ended here.
   */
  run<Output extends JobOutput>(placeId: string, call: PieceCall): Promise<Output>;
  /** Records a measured speed in pixels of the output per second. */
  recordSpeed(placeId: string, pixelsPerSecond: number): void;
};

/** Assumed where frames keep the rate of the source. */
const TYPICAL_FRAME_RATE = 30;

export function createPlaceSpeeds(workerList: Pick<WorkerList, "setSpeed">) {
  const speeds = new Map<string, number>();
  const get = (placeId: string) => speeds.get(placeId) ?? null;
  return {
    get,
    /** Records a measurement of a render with this output, and shows it in the list of workers. */
    record: (placeId: string, measured: number, { video }: RenderInput["output"]) => {
      const speed = updateSpeed(get(placeId), measured);
      if (speed === null || video === null) return;
      speeds.set(placeId, speed);
      const rate = video.frameRate === null ? TYPICAL_FRAME_RATE : video.frameRate.num / video.frameRate.den;
      if (placeId !== LOCAL) workerList.setSpeed(placeId, speed / (video.width * video.height * rate));
    },
  };
}

/** The measured speeds of places, in pixels per second of one slot. */
export type PlaceSpeeds = ReturnType<typeof createPlaceSpeeds>;

export type SplitJob = {
  job: Job;
  loaded: LoadedJob<RenderInput>;
  assetId: string;
  context: RunContext<unknown>;
  places: JobPlaces;
};

export type RemoteRunParts = {
  services: WorkerNeeds;
  tools: MediaTools;
  executions: Pick<Executions, "run">;
  /** Returns what this machine encodes with; null while that is not known. */
  findLocalEncoding(): EncodingFacts | null;
  /** Returns what stands for a workspace on workers. */
  getOwner(workspaceId: string): string;
};

type SplitParts = RemoteRunParts & { speeds: PlaceSpeeds };

/** Returns the executions of a claimed step `render`. */
export function createSplitExecutions(parts: SplitParts, split: SplitJob): SplitExecutions {
  const { tools, speeds } = parts;
  const { loaded, context, places } = split;
  return {
    listPlaces: () =>
      places.list().flatMap(({ id, slots, free, worker }) => {
        const encoding = worker === null ? parts.findLocalEncoding() : worker.announcement.encoding;
        const pixelsPerSecond = speeds.get(id);
        return encoding === null ? [] : [{ id, isLocal: id === LOCAL, slots, free, encoding, pixelsPerSecond }];
      }),
    request: places.request,
    run: async <Output extends JobOutput>(placeId: string, call: PieceCall) =>
      (await (placeId === LOCAL ? runHere(tools, context, call) : runRemotely(parts, split, placeId, call))) as Output,
    recordSpeed: (placeId, measured) => speeds.record(placeId, measured, loaded.input.output),
  };
}

/** A render joins the chunks in its work folder, and encodes those that are missing there. */
const RUNS = { split: runSplit, chunk: runChunk, join: runRender };

function runHere(tools: MediaTools, context: RunContext<unknown>, call: PieceCall): Promise<JobOutput> {
  const { signal, outputDir, workDir } = call;
  return RUNS[call.kind](tools, call.input as never, {
    ...context,
    signal,
    outputDir,
    workDir,
    shouldYield: () => false,
    progress: ({ share }) => call.onProgress(share),
    checkpoint: () => Promise.reject(new Error("a piece of a render has no checkpoints")),
  });
}

async function runRemotely(
  { services, tools, executions, getOwner }: SplitParts,
  { job, loaded, assetId, context }: SplitJob,
  workerId: string,
  call: PieceCall,
): Promise<unknown> {
  const { root } = services.folders;
  const work = call.workFiles.map((name) => describeFile(root, join(context.workDir, name), "work"));
  const maxFileBytes = tools.maxFileBytes() ?? Number.MAX_SAFE_INTEGER;
  const path = join(call.outputDir, call.outputs[0]?.name ?? "");
  return executions.run(workerId, {
    kind: call.kind,
    stepId: job.stepId,
    subjectId: job.subjectId,
    assetId,
    owner: getOwner(job.workspaceId),
    input: call.input,
    files: [...(await listInputs(root, loaded.input, loaded)), ...(await Promise.all(work))],
    outputs: call.outputs.map(({ name, maxBytes }) => getRule(call.outputDir, name, Math.min(maxBytes, maxFileBytes))),
    incomingDir: join(call.workDir, "incoming"),
    signal: call.signal,
    shouldYield: () => false,
    progress: call.onProgress,
    finish: async (output) =>
      call.kind === "join" ? (await finishRender(tools, loaded, { path, signal: call.signal }, output)).output : output,
  });
}
