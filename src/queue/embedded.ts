/**
 * The embedded runner: takes due jobs from the source, a set number of each name at a time, keeps their leases alive and ends
 * them when they are cancelled or the server stops.
 */
import {
  type Job,
  JobAborted,
  type JobContext,
  type JobHandler,
  type JobName,
  type JobSource,
  type Runner,
} from "../domain/jobs";
import { newId } from "../lib/ids";
import type { Log } from "../lib/log";

type Running = { job: Job; abort: AbortController; progress: number | null; ended: Promise<void> };

export type EmbeddedOptions = {
  source: JobSource;
  handlers: Record<JobName, JobHandler>;
  /** How many jobs of each name run at the same time. */
  slots: Record<JobName, number>;
  log: Log;
  leaseMs?: number;
  heartbeatMs?: number;
};

/** The longest wait before the source is asked again: a safety net, `wake` is the rule. */
const LOOK_AGAIN_MS = 30_000;

/** A runner inside this process. */
export function createEmbeddedRunner(options: EmbeddedOptions): Runner {
  const { source, handlers, slots, log, leaseMs = 30_000, heartbeatMs = 1_000 } = options;
  const owner = newId();
  const running = new Map<string, Running>();
  const names = Object.keys(slots) as JobName[];
  let stopped = true;
  let looking: Promise<void> | null = null;
  let lookAgain = false;
  let timer: Timer | undefined;
  let heartbeat: Timer | undefined;

  async function run(job: Job, abort: AbortController): Promise<void> {
    const jobLog = log.with({ job: job.stepId, name: job.name, subject: job.subjectId });
    const context: JobContext = {
      signal: abort.signal,
      progress: (share) => {
        const entry = running.get(job.stepId);
        if (entry && share > (entry.progress ?? -1)) entry.progress = Math.min(1, share);
      },
    };
    const started = performance.now();
    try {
      await handlers[job.name](job, context);
      jobLog.info("job done", { seconds: seconds(started) });
    } catch (error) {
      // What an aborted job throws is beside the point: the reason of the abort decides.
      const reason = abort.signal.aborted ? (abort.signal.reason as JobAborted).reason : null;
      if (reason === "shutdown") await source.release(job, owner);
      else if (reason === null) {
        jobLog.warn("job failed", { error, attempt: job.attempt, seconds: seconds(started) });
        await source.fail(job, error);
      } else jobLog.info("job ended", { reason });
    }
  }

  async function look(): Promise<void> {
    do {
      lookAgain = false;
      for (const name of names) {
        while (!stopped && [...running.values()].filter((r) => r.job.name === name).length < slots[name]) {
          const job = await source.claim(name, owner, leaseMs);
          if (!job) break;
          const abort = new AbortController();
          const entry: Running = { job, abort, progress: null, ended: Promise.resolve() };
          running.set(job.stepId, entry);
          entry.ended = run(job, abort)
            .catch((error) => log.error("job could not be ended", { job: job.stepId, error }))
            .finally(() => {
              running.delete(job.stepId);
              wake();
            });
        }
      }
    } while (lookAgain && !stopped);
    if (stopped) return;
    const due = (await Promise.all(names.map((name) => source.nextDue(name)))).filter((at) => at !== null);
    const wait = Math.min(LOOK_AGAIN_MS, ...due.map((at) => Math.max(50, at - Date.now())));
    clearTimeout(timer);
    timer = setTimeout(wake, wait);
  }

  function wake(): void {
    if (stopped) return;
    lookAgain = true;
    looking ??= look()
      .catch((error) => {
        log.error("cannot look for jobs", { error });
        timer = setTimeout(wake, 1_000);
      })
      .finally(() => {
        looking = null;
        if (lookAgain) wake();
      });
  }

  async function beat(): Promise<void> {
    const entries = [...running.values()];
    if (entries.length === 0) return;
    const lost = await source.renew(
      entries.map((e) => ({ stepId: e.job.stepId, progress: e.progress })),
      owner,
      leaseMs,
    );
    for (const stepId of lost) running.get(stepId)?.abort.abort(new JobAborted("lost"));
  }

  return {
    start: () => {
      stopped = false;
      heartbeat = setInterval(() => beat().catch((error) => log.error("heartbeat failed", { error })), heartbeatMs);
      wake();
    },
    wake,
    cancel: (stepId) => running.get(stepId)?.abort.abort(new JobAborted("cancelled")),
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      clearInterval(heartbeat);
      await looking;
      const entries = [...running.values()];
      for (const entry of entries) entry.abort.abort(new JobAborted("shutdown"));
      await Promise.all(entries.map((entry) => entry.ended));
    },
  };
}

const seconds = (since: number) => Math.round(performance.now() - since) / 1000;
