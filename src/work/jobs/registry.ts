/** Definitions by job name, and the steps from a claimed step to its settled result. */
import { join } from "node:path";
import { getWorkName } from "../../blobs/folders";
import { type Job, JobAborted, type JobContext, type JobHandler, type JobName, JobPostponed } from "../../domain/jobs";
import type { Log } from "../../lib/log";
import { isExecutableFile } from "../../lib/programs";
import type { Queries } from "../../store/db";
import { findStep, isCurrentAttempt } from "../../store/steps";
import type { RemoteRunner } from "../cluster/remote-run";
import { completePipelineStep, endPipelineStep } from "../pipelines/pipelines";
import { cutJob } from "./cut-job";
import type { JobDefinition, JobEnd, JobInput, JobOutput, RunContext, SettleContext } from "./definition";
import { withStorage } from "./disk-space";
import type { MediaTools } from "./media-tools";
import type { JobNeeds } from "./needs";
import { prepareJob } from "./prepare-job";
import { previewJob } from "./preview-job";
import { renderJob } from "./render-job";

export const JOBS = { prepare: prepareJob, cut: cutJob, render: renderJob, preview: previewJob };

/** Chooses the place of a job; null: all jobs run here. */
type ChoosePlace = Pick<RemoteRunner, "runJob"> | null;

/** Returns the handlers for a runner. A job name without a definition does not compile. */
export function createJobHandlers(
  services: JobNeeds,
  tools: MediaTools,
  remote: ChoosePlace = null,
): Record<JobName, JobHandler> {
  return {
    prepare: createHandler(JOBS.prepare, services, tools, remote),
    cut: createHandler(JOBS.cut, services, tools, remote),
    render: createHandler(JOBS.render, services, tools, remote),
    preview: createHandler(JOBS.preview, services, tools, remote),
  };
}

function createHandler<Input extends JobInput, Checkpoint, Output extends JobOutput>(
  definition: JobDefinition<Input, Checkpoint, Output>,
  services: JobNeeds,
  tools: MediaTools,
  remote: ChoosePlace,
): JobHandler {
  return (job, context) =>
    withFfmpeg({ tools, log: services.log }, job, context, () =>
      withStorage(services, definition.whenDiskIsFull, job, context, (guarded) =>
        executeJob(definition, services, { tools, remote }, job, guarded),
      ),
    );
}

/** Maximum progress of a job that runs: it is not complete before its result is stored. */
const MAX_RUNNING_SHARE = 0.99;

async function executeJob<Input extends JobInput, Checkpoint, Output extends JobOutput>(
  definition: JobDefinition<Input, Checkpoint, Output>,
  services: JobNeeds,
  { tools, remote }: { tools: MediaTools; remote: ChoosePlace },
  job: Job,
  context: JobContext,
): Promise<void> {
  const { store } = services;
  const { workspaceId, pipelineId } = job;
  const settleContext = (): SettleContext => ({ job, now: services.now(), config: services.config });
  const hasBegun = await store.write((tx) => definition.begin(tx, settleContext()));
  const loaded = hasBegun ? await definition.load(services, job) : null;
  if (loaded === null) {
    // The subject was deleted or has ended.
    await store.write((tx) => endPipelineStep(tx, job, { state: "cancelled", now: services.now() }));
    return;
  }
  const runContext: RunContext<Checkpoint> = {
    signal: context.signal,
    shouldYield: context.shouldYield,
    progress: (report) => {
      const share = Math.min(MAX_RUNNING_SHARE, report.share);
      context.progress(share);
      services.liveEvents.publishProgress({ workspaceId, pipelineId, entityId: job.subjectId }, share);
    },
    log: (event, fields) => services.log.info(event, { ...fields, [job.name]: job.subjectId }),
    owner: job.workspaceId,
    getInputPath: (name) => join(loaded.inputDir, name),
    outputDir: loaded.outputDir,
    workDir: join(tools.temporaryFolder, getWorkName(job.name, job.subjectId)),
    renderCache: loaded.renderCache,
    checkpoint: async (checkpoint) => {
      const writeFiles = await definition.readForCheckpoint?.(services, checkpoint, job);
      await store.write(async (tx) => {
        if (!isCurrentAttempt(await findStep(tx, job.stepId), job)) throw new JobAborted("lost");
        await definition.checkpoint?.(tx, checkpoint, settleContext());
        await writeFiles?.(tx);
      });
    },
  };
  /** Cleans up a job that did not end with this attempt, for example because it was cancelled. */
  const cleanUpIfEnded = async () => {
    const end = await findEnd(store.read, job);
    if (end === "cancelled") services.counters.jobEnds.add({ job: job.name, outcome: end });
    if (end !== null) await cleanUp(services, job, end);
  };
  let isSettled: boolean;
  try {
    const { places, slot } = context;
    const runHere = () => definition.run(tools, loaded.input, runContext);
    const run = remote ? remote.runJob(job, loaded, runContext, { places, slot, runHere }) : runHere();
    // It is that of `runHere`, wherever it ran.
    const output = (await run) as Output;
    // Written files exist only if the folder still does.
    await services.folders.guard.confirmOnline();
    const writeMore = await definition.readForSettle?.(services, output, job);
    isSettled = await store.write((tx) =>
      completePipelineStep(services, tx, job, async () => {
        await definition.settle(tx, output, settleContext());
        await writeMore?.(tx);
      }),
    );
  } catch (error) {
    await cleanUpIfEnded();
    throw error;
  }
  if (!isSettled) return cleanUpIfEnded();
  services.counters.jobEnds.add({ job: job.name, outcome: "completed" });
  await cleanUp(services, job, "completed");
}

/**
 * Returns how a job has ended, with any attempt. Returns null while it is open: a newer attempt uses the same files.
 */
async function findEnd(db: Queries, { stepId, subjectId }: Job): Promise<JobEnd | null> {
  const step = await findStep(db, stepId);
  // A retry works on another subject.
  if (step?.subject_id !== subjectId) return "cancelled";
  const { state } = step;
  return state === "pending" || state === "running" ? null : state;
}

/** Removes the files that an ended job no longer needs. A failure is logged, because it does not change the end. */
export async function cleanUp(services: JobNeeds, job: Job, end: JobEnd): Promise<void> {
  const { name, stepId } = job;
  try {
    await JOBS[name].cleanup(services, job, end);
  } catch (error) {
    services.log.warn("job.cleanup_failed", { job: stepId, name, end, error });
  }
}

const POSTPONE_MS = 10_000;

/**
 * Runs the job. Errors: those of `run`; `JobPostponed` while ffmpeg is missing, for example during an update of its
 * package: the recording is not at fault.
 */
async function withFfmpeg(
  { tools, log }: { tools: Pick<MediaTools, "ffmpeg">; log: Log },
  job: Job,
  { signal }: Pick<JobContext, "signal">,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { path } = tools.ffmpeg;
    if (signal.aborted || error instanceof JobPostponed || isExecutableFile(path)) throw error;
    log.error("ffmpeg.missing", { path, [job.name]: job.subjectId, retry_in_ms: POSTPONE_MS });
    throw new JobPostponed(POSTPONE_MS, { isStarted: false }, `ffmpeg is missing at ${path}`);
  }
}
