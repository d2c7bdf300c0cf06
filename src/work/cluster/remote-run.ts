/** Runs the `run` of a job at the place that has room for it: here, or on a worker, whose files are then where a run here would have left them. */
import { join } from "node:path";
import type { Job } from "../../domain/jobs";
import { toSeconds } from "../../domain/time";
import type { EncodingFacts } from "../../domain/workers";
import type { JobInput, JobOutput, LoadedJob, RunContext } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import type { ExecutionTask } from "./execution-request";
import type { Executions } from "./executions";
import { createPlaceSpeeds } from "./place-speeds";
import { LOCAL, type PlaceHold, type Places } from "./places";
import { describeRemoteJob } from "./remote-jobs";
import { InvalidResultError } from "./result-shapes";
import { createSplitJobRunner, type RunExecution, type SplitJob } from "./split-jobs";
import { isWorkerJob, readStepNeeds, type StepNeeds } from "./step-needs";
import type { WorkerNeeds } from "./worker-list";

type RemoteRunParts = {
  services: WorkerNeeds;
  tools: MediaTools;
  executions: Pick<Executions, "refuseOutput" | "run">;
  places: Pick<Places, "acquire" | "list">;
  /** Returns this machine's encoder; null while it is unknown. */
  findLocalEncoding(): EncodingFacts | null;
  /** Returns the pseudonym of a workspace on workers. */
  getOwner(workspaceId: string): string;
};

export type RemoteRunner = {
  /** Runs a job at the first place that has room for it. Errors: those of the run, of `Places.acquire` and of `Executions.run`. */
  runJob<Checkpoint, Output extends JobOutput>(
    job: Job,
    loaded: LoadedJob<JobInput>,
    context: RunContext<Checkpoint>,
    runHere: (context: RunContext<Checkpoint>) => Promise<Output>,
  ): Promise<Output>;
};

export function createRemoteRunner(parts: RemoteRunParts): RemoteRunner {
  const { services, tools, executions, places, getOwner } = parts;
  const runExecution: RunExecution = async (hold, task) => {
    const { kind, job, input, files, outputs, context, finish } = task;
    const output = await executions.run(hold.placeId, {
      kind,
      stepId: job.stepId,
      subjectId: job.subjectId,
      assetId: task.assetId,
      owner: getOwner(job.workspaceId),
      input,
      files,
      outputs,
      mediaSeconds: task.mediaSeconds ?? null,
      incomingDir: join(context.workDir, "incoming"),
      signal: context.signal,
      shouldYield: context.shouldYield,
      progress: context.progress,
      checkpoint: task.checkpoint ?? (() => Promise.reject(new Error("the execution has no checkpoints"))),
      check: task.check ?? (async () => {}),
    });
    try {
      return finish === undefined ? output : await finish(output);
    } catch (error) {
      // The next attempt runs elsewhere, where that is possible.
      if (error instanceof InvalidResultError) executions.refuseOutput(hold.placeId, job.stepId, error);
      throw error;
    }
  };

  async function runRemotely(
    hold: PlaceHold,
    job: Job,
    { input, ...folders }: LoadedJob<JobInput>,
    context: RunContext<unknown>,
    needs: StepNeeds,
  ): Promise<JobOutput> {
    const { root } = services.folders;
    const remote = await describeRemoteJob(needs.job, input, { root, tools, folders, context });
    const task: ExecutionTask = {
      kind: needs.job,
      job,
      assetId: needs.assetId,
      input,
      files: remote.files,
      outputs: remote.outputs,
      check: remote.check,
      checkpoint: remote.checkpoint,
      finish: remote.finish,
      context: {
        ...context,
        progress: (share) => context.progress({ share, stage: STAGES[needs.job], stageShare: share }),
      },
    };
    // A preparation does not know it before it has probed the recording.
    if ("duration" in input) task.mediaSeconds = toSeconds(Number(input.duration));
    return (await runExecution(hold, task)) as JobOutput;
  }

  const speeds = createPlaceSpeeds(services.workerList);
  const runSplitJob = createSplitJobRunner({ ...parts, runExecution, speeds });

  function recordRender(
    { placeId: id }: PlaceHold,
    needs: StepNeeds,
    loaded: LoadedJob<JobInput>,
    output: JobOutput,
    seconds: number,
  ): void {
    const place = places.list(needs).find((one) => one.id === id);
    const { input } = loaded as LoadedJob<RenderInput>;
    if (place) speeds.recordRender(place, input.output, output as RenderOutput, seconds);
  }

  return {
    runJob: async (job, loaded, context, runHere) => {
      const { name, stepId, workspaceId, runsAlone } = job;
      const needs = isWorkerJob(name) ? await readStepNeeds(services, { ...job, name }) : null;
      if (needs === null) return runHere(context);
      const runWhole = async (): ReturnType<typeof runHere> => {
        const hold = await places.acquire({ stepId, workspaceId, needs, runsAlone, signal: context.signal });
        const shared = { ...context, shouldYield: () => context.shouldYield() || hold.shouldYield() };
        const startedMs = performance.now();
        const run = () => (hold.placeId === LOCAL ? runHere(shared) : runRemotely(hold, job, loaded, shared, needs));
        try {
          const output = (await run()) as Awaited<ReturnType<typeof runHere>>;
          if (needs.job === "render") recordRender(hold, needs, loaded, output, (performance.now() - startedMs) / 1000);
          return output;
        } finally {
          hold.release();
        }
      };
      if (name !== "render" || runsAlone) return runWhole();
      // The definition of `render` has made the input, and its output is that of `runHere`.
      const render = { job, loaded: loaded as LoadedJob<RenderInput>, needs, context, runWhole };
      return (await runSplitJob(render as unknown as SplitJob)) as unknown as ReturnType<typeof runHere>;
    },
  };
}

/** Reports of workers have no stage. */
const STAGES = { prepare: "transcribing", cut: "planning", render: "rendering" } as const;
