/**
 * Runs the `run` of a job at the place of its slot: here, or on a worker, whose files are then where a run here would
 * have left them.
 */
import { join } from "node:path";
import { getRenderOutputName } from "../../blobs/folders";
import type { Job, JobContext, Slot } from "../../domain/jobs";
import { LOCAL } from "../../domain/places";
import { toSeconds } from "../../domain/time";
import { isWorkerJob, JOB_NEEDS, type WorkerJob } from "../../domain/workers";
import type { JobInput, JobOutput, LoadedJob, RunContext } from "../jobs/definition";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import { createChunkChecker } from "./encode-pieces";
import { REMOTE_JOBS } from "./remote-jobs";
import { createPlaceSpeeds, createSplitExecutions, type RemoteRunParts } from "./split-executions";
import { runSplitRender } from "./split-render";

export function createRemoteRunner(parts: RemoteRunParts) {
  const { services, tools, executions, getOwner } = parts;
  const speeds = createPlaceSpeeds(services.workerList);

  async function runRemotely(
    { name, job, assetId }: { name: WorkerJob; job: Job; assetId: string },
    { input, ...folders }: LoadedJob<JobInput>,
    context: RunContext<unknown>,
    { placeId, slots }: { placeId: string; slots: number },
  ): Promise<unknown> {
    const { root } = services.folders;
    const { describe, stage } = REMOTE_JOBS[name];
    const startedMs = performance.now();
    const onEncoded = (pixels: number) => {
      const seconds = (performance.now() - startedMs) / 1000;
      speeds.record(placeId, pixels / seconds / slots, (input as RenderInput).output);
    };
    const remote = await describe(input as never, { root, tools, folders, context, onEncoded });
    return executions.run(placeId, {
      ...remote,
      kind: name,
      stepId: job.stepId,
      subjectId: job.subjectId,
      assetId,
      owner: getOwner(job.workspaceId),
      input,
      // A preparation does not know it before it has probed the recording.
      mediaSeconds: "duration" in input ? toSeconds(Number(input.duration)) : null,
      incomingDir: join(context.workDir, "incoming"),
      signal: context.signal,
      shouldYield: context.shouldYield,
      progress: (share) => context.progress({ share, stage, stageShare: share }),
    });
  }

  return {
    /** Runs a job at the place of its slot, or at several places. Errors: those of the run and of `Executions.run`. */
    runJob: async (
      job: Job,
      loaded: LoadedJob<JobInput>,
      context: RunContext<unknown>,
      { places, slot, runHere }: Pick<JobContext, "places" | "slot"> & { runHere(): Promise<JobOutput> },
    ) => {
      const { name } = job;
      const asset = isWorkerJob(name) ? await REMOTE_JOBS[name].findAsset(services.store.read, job.subjectId) : null;
      if (asset === null || !isWorkerJob(name)) return runHere();
      const assetId = asset.id;
      const runAt = async ({ placeId }: Slot): Promise<unknown> => {
        if (placeId === LOCAL) return runHere();
        const slots = places.list().find(({ id }) => id === placeId)?.slots ?? 1;
        return await runRemotely({ name, job, assetId }, loaded, context, { placeId, slots });
      };
      if (!JOB_NEEDS[name].canSplit || job.runsAlone) return (await runAt(slot)) as JobOutput;
      const { input, outputDir } = loaded as LoadedJob<RenderInput>;
      await using checker = createChunkChecker(tools, context.workDir);
      const split = { job, loaded: loaded as LoadedJob<RenderInput>, assetId, context, places };
      const executionsOfJob = createSplitExecutions({ ...parts, speeds }, split);
      return await runSplitRender({
        input,
        workDir: context.workDir,
        outputDir,
        outputName: getRenderOutputName(input.output.format),
        signal: context.signal,
        shouldYield: context.shouldYield,
        progress: (share) => context.progress({ share, stage: "rendering", stageShare: share }),
        log: context.log,
        executions: executionsOfJob,
        slot,
        runWhole: async (at) => (await runAt(at)) as RenderOutput,
        checkChunk: checker.check,
        clock: () => performance.now(),
      });
    },
  };
}

export type RemoteRunner = ReturnType<typeof createRemoteRunner>;
