/** The runner's source of jobs, backed by the steps in the database. Decides what happens to a job that failed. */
import { AppError } from "../domain/errors";
import {
  isPermanent,
  type Job,
  JobKilled,
  JobPostponed,
  type JobSource,
  MAX_ATTEMPTS,
  MAX_KERNEL_KILLS,
  retryDelayMs,
} from "../domain/jobs";
import {
  claimStep,
  endStep,
  findNextDueTime,
  findNextStep,
  findNextStepAlone,
  renewLease,
  requeueStep,
} from "../store/steps";
import { JOBS } from "./registry";
import type { Services } from "./services";

const KILLED_TWICE =
  "File needs more memory than the server has: its processing was killed twice, the second time while no other job was running.";
const TOO_MANY_ATTEMPTS = "The server stopped unexpectedly each time it processed this file.";
const INTERNAL_ERROR = "Internal error. Details are in the server log.";

/** Returns the source for a runner. */
export function createJobSource(services: Pick<Services, "config" | "folders" | "now" | "store">): JobSource {
  const { store, config } = services;
  const now = () => services.now();

  const postpone = (job: Job, { delayMs, run }: JobPostponed): Promise<void> =>
    store.write((tx) => {
      const attempts = run.isStarted ? job.attempt : job.attempt - 1;
      return requeueStep(tx, job, { runAfter: now() + delayMs, servedAt: now(), attempts });
    });

  async function failPermanently(job: Job, error: unknown): Promise<void> {
    const isKnown = isPermanent(job.name, error) || (error instanceof AppError && error.code === "processing_failed");
    const code = isKnown ? error.code : "processing_failed";
    const message = isKnown ? toSentence(error.message) : INTERNAL_ERROR;
    const definition = JOBS[job.name];
    const isFailed = await store.write(async (tx) => {
      if (!(await endStep(tx, job.stepId, "failed", now(), job.attempt))) return false;
      await definition.fail(tx, { code, message }, { job, now: now(), config });
      return true;
    });
    if (isFailed) await definition.cleanup(services, job, "failed");
  }

  /** Requeues a job that the kernel killed. Its next attempt runs alone, so that other jobs do not take the memory. */
  async function requeueKilled(job: Job): Promise<void> {
    const kernelKills = job.kernelKills + 1;
    if (kernelKills >= MAX_KERNEL_KILLS) return failPermanently(job, new AppError("processing_failed", KILLED_TWICE));
    await store.write((tx) => requeueStep(tx, job, { runAfter: now(), servedAt: now(), kernelKills }));
  }

  return {
    next: (name, owner) => findNextStep(store.read, name, owner, now()),
    nextAlone: (owner) => findNextStepAlone(store.read, owner, now()),
    claim: async (stepId, owner, leaseMs) => {
      const job = await store.write((tx) => claimStep(tx, stepId, owner, now(), leaseMs));
      if (!job || job.attempt <= MAX_ATTEMPTS) return job;
      await failPermanently(job, new AppError("processing_failed", TOO_MANY_ATTEMPTS));
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
      if (delay === null) return failPermanently(job, error);
      await store.write((tx) => requeueStep(tx, job, { runAfter: now() + delay, servedAt: now(), failures }));
    },
    nextDue: () => findNextDueTime(store.read, now()),
  };
}

/** Returns the message with a capital letter and a period, whatever code it comes from. */
function toSentence(message: string): string {
  const end = /[.!?]$/.test(message) ? "" : ".";
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${end}`;
}
