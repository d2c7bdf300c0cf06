/** Job name -> what does it and what its failure means. The types make a name without a handler impossible to build. */
import { moveToTrash } from "../blobs/trash";
import { AppError } from "../domain/errors";
import {
  isPermanent,
  type Job,
  type JobContext,
  type JobHandler,
  JobKilled,
  type JobName,
  JobPostponed,
  type JobSource,
  MAX_ATTEMPTS,
  MAX_KERNEL_KILLS,
  retryDelayMs,
} from "../domain/jobs";
import type { Queries } from "../store/db";
import {
  claimStep,
  endStep,
  findNextDueTime,
  findNextStep,
  findNextStepAlone,
  renewLease,
  requeueStep,
} from "../store/steps";
import { computeCut, failCut } from "./cut";
import { withDiskReserve } from "./disk-space";
import { failAsset, prepare } from "./prepare";
import { discardDerivatives } from "./prepared-size";
import { computeRender, failRender } from "./render";
import type { Services } from "./services";

type JobDefinition = {
  run(services: Services, job: Job, context: JobContext): Promise<void>;
  fail(tx: Queries, subjectId: string, code: string, message: string, now: number): Promise<void>;
};

const REGISTRY: Record<JobName, JobDefinition> = {
  prepare: { run: prepare, fail: failAsset },
  cut: { run: computeCut, fail: failCut },
  render: { run: computeRender, fail: failRender },
};

/** The handlers for a runner. */
export function createJobHandlers(services: Services): Record<JobName, JobHandler> {
  const bind =
    (entry: JobDefinition): JobHandler =>
    async (job, context) => {
      await withDiskReserve(services, job, context, (guarded) => entry.run(services, job, guarded));
      // A handler that found nothing to do (its subject is gone or has ended) leaves the step to be closed here.
      await services.store.write((tx) => endStep(tx, job.stepId, "completed", services.now()));
    };
  return { prepare: bind(REGISTRY.prepare), cut: bind(REGISTRY.cut), render: bind(REGISTRY.render) };
}

/** A message as users read it, whoever wrote it. */
function toSentence(message: string): string {
  const end = /[.!?]$/.test(message) ? "" : ".";
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${end}`;
}

const KILLED_TWICE =
  "The file needs more memory than the server has: its processing was stopped twice, the second time with no other job running.";

/** Where the runner finds its jobs: the steps in the database. */
export function createJobSource(services: Services): JobSource {
  const { store, folders } = services;
  const now = () => services.now();

  const postpone = (job: Job, { delayMs, run }: JobPostponed): Promise<void> =>
    store.write((tx) => {
      const attempts = run.isStarted ? job.attempt : job.attempt - 1;
      return requeueStep(tx, job, { runAfter: now() + delayMs, servedAt: now(), attempts });
    });

  async function failForGood(job: Job, error: unknown): Promise<void> {
    const isKnown = isPermanent(job.name, error) || (error instanceof AppError && error.code === "processing_failed");
    const code = isKnown ? error.code : "processing_failed";
    const message = isKnown ? toSentence(error.message) : "Something went wrong on the server; its log says what.";
    const isFailed = await store.write(async (tx) => {
      if (!(await endStep(tx, job.stepId, "failed", now(), job.attempt))) return false;
      await REGISTRY[job.name].fail(tx, job.subjectId, code, message, now());
      return true;
    });
    if (isFailed && job.name === "prepare") await discardDerivatives(services, job.subjectId);
    if (isFailed && job.name === "render")
      await moveToTrash(folders, [folders.work(job.subjectId), folders.render(job.subjectId)]);
  }

  /** The next start has the server to itself, so that the job is not killed for what others take. */
  async function requeueKilled(job: Job): Promise<void> {
    const kernelKills = job.kernelKills + 1;
    if (kernelKills >= MAX_KERNEL_KILLS) return failForGood(job, new AppError("processing_failed", KILLED_TWICE));
    await store.write((tx) => requeueStep(tx, job, { runAfter: now(), servedAt: now(), kernelKills }));
  }

  return {
    next: (name, owner) => findNextStep(store.read, name, owner, now()),
    nextAlone: (owner) => findNextStepAlone(store.read, owner, now()),
    claim: async (stepId, owner, leaseMs) => {
      const job = await store.write((tx) => claimStep(tx, stepId, owner, now(), leaseMs));
      if (!job || job.attempt <= MAX_ATTEMPTS) return job;
      await failForGood(job, new AppError("processing_failed", "The server stopped each time it worked on this."));
      return null;
    },
    renew: async (running, owner, leaseMs) =>
      store.write(async (tx) => {
        const lost: string[] = [];
        for (const { stepId, progress } of running) {
          if (!(await renewLease(tx, stepId, owner, now() + leaseMs, progress))) lost.push(stepId);
        }
        return lost;
      }),
    release: (job) =>
      store.write((tx) => requeueStep(tx, job, { runAfter: now(), servedAt: now(), attempts: job.attempt - 1 })),
    fail: async (job, error) => {
      if (error instanceof JobKilled) return requeueKilled(job);
      if (error instanceof JobPostponed) return postpone(job, error);
      const failures = job.failures + 1;
      const delay = isPermanent(job.name, error) ? null : retryDelayMs(failures);
      if (delay === null) return failForGood(job, error);
      await store.write((tx) => requeueStep(tx, job, { runAfter: now() + delay, servedAt: now(), failures }));
    },
    nextDue: () => findNextDueTime(store.read, now()),
  };
}
