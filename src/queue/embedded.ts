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
  JobYielded,
  type Runner,
} from "../domain/jobs";
import { newId } from "../lib/ids";
import type { Log } from "../lib/log";

type Running = {
  job: Job;
  abort: AbortController;
  progress: number | null;
  since: number;
  shouldYield: boolean;
  ended: Promise<void>;
};

export type EmbeddedOptions = {
  source: JobSource;
  handlers: Record<JobName, JobHandler>;
  /** How many jobs of each name run at the same time. */
  slots: Record<JobName, number>;
  log: Log;
  leaseMs?: number;
  heartbeatMs?: number;
  /** How long a job may run before it is asked to give way to somebody who has been served less. */
  timeSliceMs?: number;
};

/** The longest wait before the source is asked again: a safety net, `wake` is the rule. */
const LOOK_AGAIN_MS = 30_000;

/** A runner inside this process. */
export function createEmbeddedRunner(options: EmbeddedOptions): Runner {
  const { source, handlers, slots, log, leaseMs = 30_000, heartbeatMs = 1_000, timeSliceMs = 15_000 } = options;
  const owner = newId();
  const running = new Map<string, Running>();
  const names = Object.keys(slots) as JobName[];
  let stopped = true;
  let looking: Promise<void> | null = null;
  let lookAgain = false;
  let timer: Timer | undefined;
  let heartbeat: Timer | undefined;

  const runningOf = (name: JobName) => [...running.values()].filter((entry) => entry.job.name === name);

  async function run(entry: Running): Promise<void> {
    const { job, abort } = entry;
    const jobLog = log.with({ job: job.stepId, name: job.name, subject: job.subjectId });
    const context: JobContext = {
      signal: abort.signal,
      shouldYield: () => entry.shouldYield,
      progress: (share) => {
        if (share > (entry.progress ?? -1)) entry.progress = Math.min(1, share);
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
      else if (reason === null && error instanceof JobYielded) {
        jobLog.info("job.yielded", { seconds: seconds(started) });
        await source.release(job, owner);
      } else if (reason === null) {
        jobLog.warn("job failed", { error, attempt: job.attempt, seconds: seconds(started) });
        await source.fail(job, error);
      } else jobLog.info("job ended", { reason });
    }
  }

  async function look(): Promise<void> {
    do {
      lookAgain = false;
      for (const name of names) {
        while (!stopped && runningOf(name).length < slots[name]) {
          const job = await source.claim(name, owner, leaseMs);
          if (!job) break;
          const entry: Running = {
            ...{ job, abort: new AbortController(), progress: null },
            ...{ since: performance.now(), shouldYield: false, ended: Promise.resolve() },
          };
          running.set(job.stepId, entry);
          entry.ended = run(entry)
            .catch((error) => log.error("job could not be ended", { job: job.stepId, error }))
            .finally(() => {
              running.delete(job.stepId);
              wake();
            });
        }
      }
    } while (lookAgain && !stopped);
    if (stopped) return;
    const waits = await Promise.all(
      names.map((name) => (runningOf(name).length < slots[name] ? untilDue(name) : untilTurnEnds(name))),
    );
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(LOOK_AGAIN_MS, ...waits));
  }

  async function untilDue(name: JobName): Promise<number> {
    const due = await source.nextDue(name);
    return due === null ? LOOK_AGAIN_MS : Math.max(50, due - Date.now());
  }

  /**
   * All slots of this name are taken. When somebody waits who has fewer running than another, that one's job gives way: the one that has run
   * longest, once its turn is over. Gives the milliseconds until then.
   */
  async function untilTurnEnds(name: JobName): Promise<number> {
    const next = await source.next(name, owner);
    const mine = runningOf(name);
    const countOf = (userId: string) => mine.filter((entry) => entry.job.userId === userId).length;
    const longest = mine
      .filter((entry) => next !== null && countOf(entry.job.userId) > next.running)
      .sort((a, b) => a.since - b.since)[0];
    const left = longest === undefined ? 0 : Math.max(0, longest.since + timeSliceMs - performance.now());
    for (const entry of mine) entry.shouldYield = entry === longest && left === 0;
    return left > 0 ? left : LOOK_AGAIN_MS;
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
