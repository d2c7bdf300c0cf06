/** Job name -> definition, and what drives a definition from a claimed step to its settled result. */
import { join } from "node:path";
import { type Job, JobAborted, type JobContext, type JobHandler, type JobName } from "../domain/jobs";
import { endStep, findStep } from "../store/steps";
import { withDiskReserve } from "./disk-space";
import { cutJob } from "./jobs/cut-job";
import type { JobDefinition, JobInput, JobOutput, RunContext, SettleContext } from "./jobs/definition";
import { prepareJob } from "./jobs/prepare-job";
import { renderJob } from "./jobs/render-job";
import type { MediaTools } from "./media-tools";
import type { Services } from "./services";

export const JOBS = { prepare: prepareJob, cut: cutJob, render: renderJob };

/** What running a job needs of `Services`. */
export type JobServices = Pick<Services, "config" | "disk" | "folders" | "log" | "now" | "store">;

/** Returns the handlers for a runner. A job name without a definition does not compile. */
export function createJobHandlers(services: JobServices, tools: MediaTools): Record<JobName, JobHandler> {
  return {
    prepare: createHandler(JOBS.prepare, services, tools),
    cut: createHandler(JOBS.cut, services, tools),
    render: createHandler(JOBS.render, services, tools),
  };
}

function createHandler<Input extends JobInput, Checkpoint, Output extends JobOutput>(
  definition: JobDefinition<Input, Checkpoint, Output>,
  services: JobServices,
  tools: MediaTools,
): JobHandler {
  return (job, context) =>
    withDiskReserve(services, definition.whenDiskIsFull, job, context, (guarded) =>
      executeJob(definition, services, tools, job, guarded),
    );
}

async function executeJob<Input extends JobInput, Checkpoint, Output extends JobOutput>(
  definition: JobDefinition<Input, Checkpoint, Output>,
  services: JobServices,
  tools: MediaTools,
  job: Job,
  context: JobContext,
): Promise<void> {
  const { store } = services;
  const settleContext = (): SettleContext => ({ job, now: services.now(), config: services.config });
  const hasBegun = await store.write((tx) => definition.begin(tx, settleContext()));
  const loaded = hasBegun ? await definition.load(services, job) : null;
  if (loaded === null) {
    await store.write((tx) => endStep(tx, job.stepId, "completed", services.now(), job.attempt));
    return;
  }
  const runContext: RunContext<Checkpoint> = {
    signal: context.signal,
    shouldYield: context.shouldYield,
    progress: ({ share }) => context.progress(share),
    log: (event, fields) => services.log.info(event, { [job.name]: job.subjectId, ...fields }),
    owner: job.workspaceId,
    getInputPath: (name) => join(loaded.inputDir, name),
    outputDir: loaded.outputDir,
    workDir: join(tools.temporaryFolder, job.subjectId),
    checkpoint: (checkpoint) =>
      store.write(async (tx) => {
        const step = await findStep(tx, job.stepId);
        if (!step || step.finished_at !== null || step.attempts !== job.attempt) throw new JobAborted("lost");
        await definition.checkpoint(tx, checkpoint, settleContext());
      }),
  };
  const hasEnded = async () => (await findStep(store.read, job.stepId))?.finished_at !== null;
  try {
    const output = await definition.run(tools, loaded.input, runContext);
    const isSettled = await store.write(async (tx) => {
      if (!(await endStep(tx, job.stepId, "completed", services.now(), job.attempt))) return false;
      await definition.settle(tx, output, settleContext());
      return true;
    });
    if (isSettled) await definition.cleanup(services, job, "completed");
    // Not after a newer attempt has replaced this one: it uses the same files.
    else if (await hasEnded()) await definition.cleanup(services, job, "cancelled");
  } catch (error) {
    if (await hasEnded()) await definition.cleanup(services, job, "cancelled");
    throw error;
  }
}
