/**
 * Runs the `run` of a job at the place of its slot, or the pieces of a render at several: here, or on workers, whose
 * files are then where a run here would have left them.
 */
import { join } from "node:path";
import { updateSpeed } from "../../domain/chunk-sizes";
import type { Job, JobContext, Slot } from "../../domain/jobs";
import { LOCAL } from "../../domain/places";
import { toSeconds } from "../../domain/time";
import type { EncodingFacts } from "../../domain/worker-messages";
import { isWorkerJob, JOB_NEEDS, type WorkerJob } from "../../domain/workers";
import type { JobInput, JobOutput, LoadedJob, RunContext } from "../jobs/definition";
import { type MediaTools, readEncodingFacts } from "../jobs/media-tools";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import { EXECUTION_RUNS } from "../worker/runs";
import { createChunkChecker, type PieceCall, type SplitExecutions } from "./encode-pieces";
import type { ExecutionRequest } from "./execution";
import { describeFile, listInputs } from "./execution-files";
import type { Executions } from "./executions";
import { findJobAsset, finishRender, REMOTE_JOBS } from "./remote-jobs";
import { runSplitRender } from "./split-render";
import type { WorkerNeeds } from "./worker-list";

type RemoteRunParts = {
  services: WorkerNeeds;
  tools: MediaTools;
  executions: Pick<Executions, "run">;
  /** Returns the opaque ID of a workspace on workers. */
  getOwner(workspaceId: string): string;
};

/** A claimed step that places other than this machine can run. */
type RunningJob = Pick<JobContext, "places" | "slot"> & {
  job: Job;
  name: WorkerJob;
  assetId: string;
  loaded: LoadedJob<JobInput>;
  context: RunContext<unknown>;
  runHere(): Promise<JobOutput>;
};

/** Assumed where frames keep the rate of the source. */
const TYPICAL_FRAME_RATE = 30;

export function createRemoteRunner({ services, tools, executions, getOwner }: RemoteRunParts) {
  const { root } = services.folders;
  /** The measured speeds of places, in pixels per second of one slot. */
  const speeds = new Map<string, number>();
  /** Encoder and ffmpeg of this machine; null until they are known. */
  let localEncoding: EncodingFacts | null = null;
  void tools
    .encoder()
    .then(async (encoder) => {
      localEncoding = await readEncodingFacts(tools.ffmpeg, encoder);
    })
    .catch((error) => services.log.warn("encoder.unavailable", { error }));

  /** Records a measurement of a render with this output, and shows it in the list of workers. */
  function recordSpeed(placeId: string, measured: number, { video }: RenderInput["output"]): void {
    const speed = updateSpeed(speeds.get(placeId) ?? null, measured);
    if (speed === null || video === null) return;
    speeds.set(placeId, speed);
    const rate = video.frameRate === null ? TYPICAL_FRAME_RATE : video.frameRate.num / video.frameRate.den;
    if (placeId !== LOCAL) services.workerList.setSpeed(placeId, speed / (video.width * video.height * rate));
  }

  /** Runs an execution of a job on a worker. */
  const runOn = (
    workerId: string,
    { job, assetId }: RunningJob,
    request: Omit<ExecutionRequest, "stepId" | "subjectId" | "assetId" | "owner">,
  ): Promise<unknown> => {
    const { stepId, subjectId, workspaceId } = job;
    return executions.run(workerId, { ...request, stepId, subjectId, assetId, owner: getOwner(workspaceId) });
  };

  async function runAt({ placeId }: Slot, running: RunningJob): Promise<unknown> {
    if (placeId === LOCAL) return running.runHere();
    const { name, context, places } = running;
    const { input, ...folders } = running.loaded;
    const slots = places.list().find(({ id }) => id === placeId)?.slots ?? 1;
    const { describe, stage } = REMOTE_JOBS[name];
    const startedMs = performance.now();
    const onEncoded = (pixels: number) => {
      const seconds = (performance.now() - startedMs) / 1000;
      recordSpeed(placeId, pixels / seconds / slots, (input as RenderInput).output);
    };
    return runOn(placeId, running, {
      ...(await describe(input as never, { root, tools, folders, context, onEncoded })),
      kind: name,
      input,
      // A preparation does not know it before it has probed the recording.
      mediaSeconds: "duration" in input ? toSeconds(Number(input.duration)) : null,
      incomingDir: join(context.workDir, "incoming"),
      signal: context.signal,
      shouldYield: context.shouldYield,
      progress: (share) => context.progress({ share, stage, stageShare: share }),
    });
  }

  function runPieceHere({ context }: RunningJob, { kind, input, onProgress, ...call }: PieceCall): Promise<JobOutput> {
    return EXECUTION_RUNS[kind].run(tools, input as never, {
      ...context,
      ...call,
      shouldYield: () => false,
      progress: ({ share }) => onProgress(share),
      checkpoint: () => Promise.reject(new Error("a piece of a render has no checkpoints")),
    });
  }

  async function runPieceOn(workerId: string, running: RunningJob, call: PieceCall): Promise<unknown> {
    const { kind, input, outputDir, outputs, signal } = call;
    const loaded = running.loaded as LoadedJob<RenderInput>;
    const work = call.workFiles.map((name) => describeFile(root, join(running.context.workDir, name), "work"));
    const maxFileBytes = tools.maxFileBytes() ?? Number.MAX_SAFE_INTEGER;
    const path = join(outputDir, outputs[0]?.name ?? "");
    return runOn(workerId, running, {
      kind,
      input,
      files: [...(await listInputs(root, loaded.input, loaded)), ...(await Promise.all(work))],
      outputs: outputs.map(({ name, maxBytes }) => ({
        name,
        dir: outputDir,
        maxBytes: Math.min(maxBytes, maxFileBytes),
      })),
      incomingDir: join(call.workDir, "incoming"),
      signal,
      shouldYield: () => false,
      progress: call.onProgress,
      finish: async (output) =>
        kind === "join" ? (await finishRender(tools, loaded, { path, signal }, output)).output : output,
    });
  }

  const createSplitExecutions = (running: RunningJob, input: RenderInput): SplitExecutions => ({
    listPlaces: () =>
      running.places.list().flatMap(({ id, slots, free, worker }) => {
        const encoding = worker === null ? localEncoding : worker.announcement.encoding;
        const pixelsPerSecond = speeds.get(id) ?? null;
        return encoding === null ? [] : [{ id, isLocal: id === LOCAL, slots, free, encoding, pixelsPerSecond }];
      }),
    request: running.places.request,
    run: async <Output extends JobOutput>(placeId: string, call: PieceCall) =>
      (await (placeId === LOCAL ? runPieceHere(running, call) : runPieceOn(placeId, running, call))) as Output,
    recordSpeed: (placeId, measured) => recordSpeed(placeId, measured, input.output),
  });

  return {
    /** Runs a job at the place of its slot, or at several places. Errors: those of the run and of `Executions.run`. */
    runJob: async (
      job: Job,
      loaded: LoadedJob<JobInput>,
      context: RunContext<unknown>,
      { runHere, ...places }: Pick<RunningJob, "places" | "slot" | "runHere">,
    ) => {
      const { name } = job;
      if (!isWorkerJob(name)) return runHere();
      const asset = await findJobAsset(services.store.read, name, job.subjectId);
      if (asset === null) return runHere();
      const running: RunningJob = { job, name, assetId: asset.id, loaded, context, runHere, ...places };
      if (!JOB_NEEDS[name].canSplit || job.runsAlone) return (await runAt(running.slot, running)) as JobOutput;
      const input = loaded.input as RenderInput;
      await using checker = createChunkChecker(tools, context.workDir);
      return await runSplitRender({
        input,
        workDir: context.workDir,
        outputDir: loaded.outputDir,
        signal: context.signal,
        shouldYield: context.shouldYield,
        progress: (share) => context.progress({ share, stage: "rendering", stageShare: share }),
        log: context.log,
        executions: createSplitExecutions(running, input),
        slot: running.slot,
        runWhole: async (slot) => (await runAt(slot, running)) as RenderOutput,
        checkChunk: checker.check,
      });
    },
  };
}

export type RemoteRunner = ReturnType<typeof createRemoteRunner>;
