/** Definitions by job name, and the steps from a claimed step to its settled result. */
import { join } from "node:path";
import { getWorkName } from "../../blobs/folders";
import { type Job, JobAborted, type JobContext, type JobHandler, type JobName, JobPostponed } from "../../domain/jobs";
import type { Log } from "../../lib/log";
import { isExecutableFile } from "../../lib/programs";
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
  const endJob = async (outcome: JobEnd) => {
    services.counters.jobEnds.add({ job: job.name, outcome });
    await definition.cleanup(services, job, outcome);
  };
  const hasEnded = async () => {
    const step = await findStep(store.read, job.stepId);
    // A retry works on another subject.
    return step?.finished_at !== null || step.subject_id !== job.subjectId;
  };
  try {
    const { places, slot } = context;
    const runHere = () => definition.run(tools, loaded.input, runContext);
    const run = remote ? remote.runJob(job, loaded, runContext, { places, slot, runHere }) : runHere();
    // It is that of `runHere`, wherever it ran.
    const output = (await run) as Output;
    // Written files exist only if the folder still does.
    await services.folders.guard.confirmOnline();
    const isSettled = await store.write((tx) =>
      completePipelineStep(services, tx, job, () => definition.settle(tx, output, settleContext())),
    );
    if (isSettled) await endJob("completed");
    // Skipped if a newer attempt has replaced this one, because it uses the same files.
    else if (await hasEnded()) await endJob("cancelled");
  } catch (error) {
    if (await hasEnded()) await endJob("cancelled");
    throw error;
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
