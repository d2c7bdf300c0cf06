/** The runner: starts due jobs, renews their leases, and aborts them when they are cancelled or the server stops. */
import {
  type DueJob,
  ExecutionLost,
  JOB_NAMES,
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
import {
  decideNext,
  type RunningJob,
  type SchedulingDecision,
  type SchedulingLimits,
  type SchedulingState,
} from "./scheduling";
import { createWaitingLog } from "./waiting-log";

type RunningEntry = {
  job: Job;
  /** Whether the job has this machine to itself. */
  isAloneHere: boolean;
  abort: AbortController;
  progress: number | null;
  since: number;
  shouldYield: boolean;
  ended: Promise<void>;
};

/** The other places where jobs run. */
export type OtherPlaces = {
  /** Returns whether a place can do the job, now or when it has room. A job that none can do is in `listUnrunnable` from then on. */
  canRun(job: DueJob): Promise<boolean>;
  /** Returns the IDs of the steps that no place can do at present. */
  listUnrunnable(): string[];
  /** Returns whether the job runs alone on another machine instead of this one. */
  isAloneElsewhere(job: DueJob): boolean;
  /** Returns whether the running step is on another machine. */
  isElsewhere(stepId: string): boolean;
};

export type RunnerOptions = Partial<Omit<SchedulingLimits, "slots">> & {
  source: JobSource;
  handlers: Record<JobName, JobHandler>;
  log: Log;
  /** Returns how many jobs of each name run at the same time. */
  slots(): SchedulingLimits["slots"];
  otherPlaces?: OtherPlaces | undefined;
  leaseMs?: number;
  heartbeatMs?: number;
};

/** Renders and previews have no extra slots: each uses all cores and yields between chunks. */
const EXTRA_SLOTS: Record<JobName, number> = { prepare: 4, cut: 4, render: 0, preview: 0 };

/** Returns the extra slots of each name on a machine with these slots: none where it has none. */
export const getExtraSlots = (slots: Record<JobName, number>): Record<JobName, number> => {
  const extra = { ...EXTRA_SLOTS };
  for (const name of JOB_NAMES) if (slots[name] === 0) extra[name] = 0;
  return extra;
};

export const TIME_SLICE_MS = 15_000;
const MAX_ALONE_MS = 120_000;
const MAX_DRAIN_MS = 15_000;
/** The source is polled at least this often, in case a `wake` was missed. */
const MAX_POLL_MS = 30_000;
/** Steps that become due at nearly the same time start together. */
const MIN_POLL_MS = 50;
/** Jobs that no place can do are found one by one for each name. The next pass continues. */
const MAX_SKIPPED_IN_A_PASS = 1_000;

/** Creates the runner. */
export function createRunner(options: RunnerOptions): Runner {
  const { source, handlers, log, otherPlaces, leaseMs = 30_000, heartbeatMs = 1_000 } = options;
  const limits: Omit<SchedulingLimits, "slots"> = {
    extraSlots: options.extraSlots ?? EXTRA_SLOTS,
    timeSliceMs: options.timeSliceMs ?? TIME_SLICE_MS,
    maxAloneMs: options.maxAloneMs ?? MAX_ALONE_MS,
    maxDrainMs: options.maxDrainMs ?? MAX_DRAIN_MS,
  };
  const owner = newId();
  const running = new Map<string, RunningEntry>();
  let lastAlone: SchedulingState["lastAlone"] = null;
  let drainingSince: number | null = null;
  let stopped = true;
  let scheduling: Promise<void> | null = null;
  let scheduleAgain = false;
  let timer: Timer | undefined;
  let heartbeat: Timer | undefined;
  const logWaiting = createWaitingLog(log);

  async function run(entry: RunningEntry): Promise<void> {
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
    jobLog.debug("job.started", { attempt: job.attempt, runs_alone: job.runsAlone });
    try {
      await handlers[job.name](job, context);
      jobLog.info("job.completed", { duration_ms: millisecondsSince(started) });
    } catch (error) {
      // The reason of the abort decides, whatever error the aborted job throws.
      const aborted = abort.signal.aborted ? abort.signal.reason : error;
      const reason = aborted instanceof JobAborted ? aborted.reason : null;
      const hasYielded = reason === "interrupted" || (reason === null && error instanceof JobYielded);
      if (hasYielded) jobLog.info("job.yielded", { duration_ms: millisecondsSince(started) });
      if (hasYielded || reason === "shutdown") await source.release(job, owner);
      else if (reason === null) {
        const facts = { attempt: job.attempt, duration_ms: millisecondsSince(started) };
        if (error instanceof ExecutionLost) jobLog.warn("job.lost", { reason: error.message, ...facts });
        else jobLog.warn("job.failed", { error, ...facts });
        await source.fail(job, error);
      } else jobLog.info("job.aborted", { reason });
    }
  }

  function start(job: Job, isAloneHere: boolean): void {
    const entry: RunningEntry = {
      job,
      isAloneHere,
      abort: new AbortController(),
      progress: null,
      since: performance.now(),
      shouldYield: false,
      ended: Promise.resolve(),
    };
    running.set(job.stepId, entry);
    entry.ended = run(entry)
      .catch((error) => log.error("job.cleanup_failed", { job: job.stepId, error }))
      .finally(() => {
        // A cancelled step can have been retried before this job has ended.
        if (running.get(job.stepId) === entry) running.delete(job.stepId);
        if (isAloneHere) {
          const forMs = Math.min(limits.maxAloneMs, performance.now() - entry.since);
          lastAlone = { endedAt: entry.since + forMs, forMs };
        }
        wake();
      });
  }

  /** Returns the next job that a place can do. */
  async function findRunnable(find: (except: string[]) => Promise<DueJob | null>): Promise<DueJob | null> {
    for (let skipped = 0; skipped < MAX_SKIPPED_IN_A_PASS; skipped++) {
      const job = await find(otherPlaces?.listUnrunnable() ?? []);
      if (job === null || !otherPlaces || (await otherPlaces.canRun(job))) return job;
    }
    scheduleAgain = true;
    return null;
  }

  /** Starts due jobs, and asks others to make room. Returns the milliseconds until the next look. */
  async function startDueJobs(): Promise<number> {
    for (;;) {
      const due = await Promise.all(
        JOB_NAMES.map((name) => findRunnable((except) => source.next(name, owner, except))),
      );
      const alone = await findRunnable((except) => source.nextAlone(owner, except));
      if (stopped) return MAX_POLL_MS;
      const isElsewhere = alone !== null && otherPlaces?.isAloneElsewhere(alone) === true;
      const dueAlone = isElsewhere ? null : alone;
      const slots = options.slots();
      const state: SchedulingState = {
        now: performance.now(),
        running: [...running.values()].map(toRunningJob),
        due: [...due, isElsewhere ? alone : null].filter((job): job is DueJob => job !== null),
        dueAlone,
        lastAlone,
        drainingSince,
      };
      const decision = decideNext(state, { ...limits, slots });
      drainingSince = decision.isDraining ? (drainingSince ?? performance.now()) : null;
      if (decision.start === null) {
        makeRoom(decision);
        logWaiting(state, slots);
        const nextDue = await source.nextDue();
        return Math.min(decision.changesInMs ?? MAX_POLL_MS, nextDue === null ? MAX_POLL_MS : nextDue - Date.now());
      }
      const job = await source.claim(decision.start.stepId, owner, leaseMs);
      if (job && stopped) await source.release(job, owner);
      else if (job) start(job, job.runsAlone && decision.start.stepId === dueAlone?.stepId);
    }
  }

  const toRunningJob = ({ job, since, isAloneHere }: RunningEntry): RunningJob => ({
    ...job,
    since,
    runsAlone: isAloneHere,
    isElsewhere: otherPlaces?.isElsewhere(job.stepId) ?? false,
  });

  function makeRoom({ yielding, interrupted }: SchedulingDecision): void {
    for (const [stepId, entry] of running) {
      entry.shouldYield = yielding.has(stepId);
      if (interrupted.has(stepId)) entry.abort.abort(new JobAborted("interrupted"));
    }
  }

  async function schedule(): Promise<void> {
    let waitMs = MAX_POLL_MS;
    do {
      scheduleAgain = false;
      waitMs = await startDueJobs();
    } while (scheduleAgain && !stopped);
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, waitMs)));
  }

  function wake(): void {
    if (stopped) return;
    scheduleAgain = true;
    scheduling ??= schedule()
      .catch((error) => {
        log.error("job.poll_failed", { error });
        timer = setTimeout(wake, 1_000);
      })
      .finally(() => {
        scheduling = null;
        if (scheduleAgain) wake();
      });
  }

  async function renewLeases(): Promise<void> {
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
      heartbeat = setInterval(
        () => renewLeases().catch((error) => log.error("job.heartbeat_failed", { error })),
        heartbeatMs,
      );
      wake();
    },
    wake,
    cancel: (stepId) => running.get(stepId)?.abort.abort(new JobAborted("cancelled")),
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      clearInterval(heartbeat);
      await scheduling;
      const entries = [...running.values()];
      for (const entry of entries) entry.abort.abort(new JobAborted("shutdown"));
      await Promise.all(entries.map((entry) => entry.ended));
    },
  };
}

const millisecondsSince = (start: number): number => Math.round(performance.now() - start);
