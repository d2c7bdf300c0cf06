/** The runner's source of jobs, backed by the steps in the database. */
import { decideRetry, type Job, type JobSource, MAX_ATTEMPTS } from "../../domain/jobs";
import type { Queries } from "../../store/db";
import {
  claimStep,
  findNextDueTime,
  findNextStep,
  findNextStepAlone,
  renewLease,
  requeueStep,
} from "../../store/step-queue";
import { endPipelineStep } from "../pipelines/pipelines";
import type { JobFailure } from "./definition";
import type { JobNeeds } from "./needs";
import { cleanUp, JOBS } from "./registry";

const TOO_MANY_ATTEMPTS: JobFailure = {
  code: "processing_failed",
  message: "The server, or the worker in its place, stopped unexpectedly each time it processed this file.",
};

export function createJobSource(services: JobNeeds): JobSource {
  const { store, config } = services;
  const now = () => services.now();
  /** Jobs wait while a folder is offline. The runner is woken when it is back. */
  const isOffline = () => services.folders.guard.findProblem() !== null;

  async function endFailed(tx: Queries, job: Job, failure: JobFailure): Promise<boolean> {
    const { code, message } = failure;
    const end = { state: "failed", error: { code, message }, now: now() } as const;
    if (!(await endPipelineStep(tx, job, end))) return false;
    await JOBS[job.name].fail(tx, failure, { job, now: now(), config });
    return true;
  }

  async function cleanUpFailed(job: Job, failure: JobFailure): Promise<void> {
    services.log.debug("job.given_up", { job: job.stepId, name: job.name, code: failure.code, attempt: job.attempt });
    services.counters.jobEnds.add({ job: job.name, outcome: "failed" });
    await cleanUp(services, job, "failed");
  }

  return {
    next: async (name, owner, except) => (isOffline() ? null : findNextStep(store.read, name, owner, now(), except)),
    nextAlone: async (owner, except) => (isOffline() ? null : findNextStepAlone(store.read, owner, now(), except)),
    claim: async (stepId, owner, leaseMs) => {
      const { job, isFailed } = await store.write(async (tx) => {
        const claimed = await claimStep(tx, stepId, owner, now(), leaseMs);
        if (!claimed || claimed.attempt <= MAX_ATTEMPTS) return { job: claimed, isFailed: false };
        return { job: claimed, isFailed: await endFailed(tx, claimed, TOO_MANY_ATTEMPTS) };
      });
      if (!job || job.attempt <= MAX_ATTEMPTS) return job;
      if (isFailed) await cleanUpFailed(job, TOO_MANY_ATTEMPTS);
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
      const decision = decideRetry(job, error);
      if (decision.kind === "fail") {
        if (await store.write((tx) => endFailed(tx, job, decision))) await cleanUpFailed(job, decision);
        return;
      }
      const { delayMs, attempts, failures, kernelKills } = decision;
      services.log.debug("job.requeued", {
        job: job.stepId,
        name: job.name,
        delay_ms: delayMs,
        attempts,
        failures,
        kernel_kills: kernelKills,
      });
      const change = { runAfter: now() + delayMs, servedAt: now(), attempts, failures, kernelKills };
      await store.write((tx) => requeueStep(tx, job, change));
    },
    nextDueInMs: async () => {
      const time = isOffline() ? null : await findNextDueTime(store.read, now());
      return time === null ? null : time - now();
    },
  };
}
