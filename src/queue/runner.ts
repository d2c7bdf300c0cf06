/**
 * The runner: starts due jobs where a place has room, renews their leases, and aborts them when they are cancelled or
 * the server stops.
 */
import {
  type DueJob,
  ExecutionLost,
  JOB_FACTS,
  JOB_NAMES,
  type Job,
  JobAborted,
  type JobContext,
  type JobHandler,
  type JobName,
  type JobSource,
  JobYielded,
  type Runner,
  type Slot,
} from "../domain/jobs";
import type { PlaceNeeds } from "../domain/places";
import {
  decideNext,
  findPlace,
  listPassedOver,
  type SchedulingDecision,
  type SchedulingLimits,
  type SchedulingState,
  type SlotRequest,
} from "../domain/scheduling";
import { isStorageFull } from "../domain/storage-full";
import { newId } from "../lib/ids";
import type { Log } from "../lib/log";
import { createPoller } from "../lib/poller";
import { sleep } from "../lib/sleep";
import { createSlots, createWaitingLog } from "./slots";

type RunningEntry = {
  job: Job;
  abort: AbortController;
  progress: number | null;
  shouldYield: boolean;
  ended: Promise<void>;
};

/** Places other than this machine on which jobs run. */
export type OtherPlaces = Pick<SchedulingState, "rank"> & {
  listWorkers(): SchedulingState["workers"];
  /** Returns the requirements of the job on a place; null if only this machine can run it. */
  readNeeds(job: DueJob): Promise<PlaceNeeds | null>;
  /**
   * Returns whether a place can do the job, now or when it has room. One that none can do is in `listUnrunnable` from
   * then on.
   */
  canRun(job: SlotRequest): boolean;
  /** Returns the IDs of the steps that no place can do as the places are now. */
  listUnrunnable(): string[];
};

/** All jobs run on this machine. */
const NO_PLACES: OtherPlaces = {
  rank: () => 0,
  listWorkers: () => [],
  readNeeds: async () => null,
  canRun: () => true,
  listUnrunnable: () => [],
};

export type RunnerOptions = Partial<Pick<SchedulingLimits, "maxDrainMs" | "timeSliceMs">> & {
  source: JobSource;
  handlers: Record<JobName, JobHandler>;
  log: Log;
  /** Number of jobs of each name that run on this machine at the same time. */
  slots: SchedulingLimits["slots"];
  otherPlaces?: OtherPlaces | undefined;
  leaseMs?: number;
  heartbeatMs?: number;
};

/** Returns how many more jobs of each name run on a machine with these slots: none where it has no slots. */
const getExtraSlots = (slots: Record<JobName, number>): Record<JobName, number> => {
  const extra = { ...slots };
  for (const name of JOB_NAMES) extra[name] = slots[name] === 0 ? 0 : JOB_FACTS[name].extraSlots;
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
/** Jobs of a name after one that waits for a busy place: another place may have room for them. */
const MAX_LOOKED_AHEAD = 16;
/** Tries to store the end of a job, unless storage is full, and the longest pause between two of them. */
const MAX_END_TRIES = 5;
const MAX_END_PAUSE_MS = 60_000;

export function createRunner(options: RunnerOptions): Runner {
  const { source, handlers, log, otherPlaces = NO_PLACES, leaseMs = 30_000, heartbeatMs = 1_000 } = options;
  const limits: SchedulingLimits = {
    slots: options.slots,
    extraSlots: getExtraSlots(options.slots),
    timeSliceMs: options.timeSliceMs ?? TIME_SLICE_MS,
    maxAloneMs: MAX_ALONE_MS,
    maxDrainMs: options.maxDrainMs ?? MAX_DRAIN_MS,
  };
  const owner = newId();
  const running = new Map<string, RunningEntry>();
  let heartbeat: Timer | undefined;
  const logWaiting = createWaitingLog(log);

  const poller = createPoller(startDueJobs, (error) => log.error("job.poll_failed", { error }));
  const slots = createSlots(limits, otherPlaces, poller.wake);

  async function run(entry: RunningEntry, slot: Slot, needs: PlaceNeeds | null): Promise<void> {
    const { job, abort } = entry;
    const jobLog = log.with({ job: job.stepId, name: job.name, subject: job.subjectId });
    const context: JobContext = {
      signal: abort.signal,
      shouldYield: () => entry.shouldYield,
      progress: (share) => {
        if (share > (entry.progress ?? -1)) entry.progress = Math.min(1, share);
      },
      slot,
      places: slots.createPlaces(job, needs),
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
      if (hasYielded || reason === "shutdown") await storeEnd(jobLog, () => source.release(job, owner));
      else if (reason === null) {
        const facts = { attempt: job.attempt, duration_ms: millisecondsSince(started) };
        if (error instanceof ExecutionLost) jobLog.warn("job.lost", { reason: error.message, ...facts });
        else jobLog.warn("job.failed", { error, ...facts });
        await storeEnd(jobLog, () => source.fail(job, error));
      } else jobLog.info("job.aborted", { reason });
    }
  }

  /**
   * Repeats the write with growing pauses: while storage is full, until it succeeds, because nobody else claims a step
   * that runs here. Throws other errors after several tries; the step is claimed again when its lease has expired.
   */
  async function storeEnd(jobLog: Log, write: () => Promise<void>): Promise<void> {
    for (let tries = 1, pauseMs = heartbeatMs; ; tries++, pauseMs = Math.min(MAX_END_PAUSE_MS, 2 * pauseMs)) {
      try {
        return await write();
      } catch (error) {
        if (poller.isStopped || (tries >= MAX_END_TRIES && !isStorageFull(error))) throw error;
        jobLog.error("job.end_not_stored", { error, retry_in_ms: pauseMs });
        await sleep(pauseMs, poller.signal).catch(() => {});
      }
    }
  }

  function start(job: Job, { request, placeId }: NonNullable<SchedulingDecision["start"]>): void {
    const entry: RunningEntry = {
      job,
      abort: new AbortController(),
      progress: null,
      shouldYield: false,
      ended: Promise.resolve(),
    };
    running.set(job.stepId, entry);
    const slot = slots.take(request, placeId);
    entry.ended = run(entry, slot, request.needs)
      .catch((error) => log.error("job.end_not_stored", { job: job.stepId, error }))
      .finally(() => {
        // A cancelled step can have been retried before this job has ended.
        if (running.get(job.stepId) === entry) running.delete(job.stepId);
        slot.release();
        poller.wake();
      });
  }

  async function findRunnable(find: (except: string[]) => Promise<DueJob | null>): Promise<SlotRequest | null> {
    for (let skipped = 0; skipped < MAX_SKIPPED_IN_A_PASS; skipped++) {
      const job = await find(otherPlaces.listUnrunnable());
      if (job === null) return null;
      const request: SlotRequest = { ...job, needs: await otherPlaces.readNeeds(job) };
      if (otherPlaces.canRun(request)) return request;
    }
    poller.wake();
    return null;
  }

  /**
   * Returns the next jobs of a name: the first in the fair order, and when that one waits for a busy place, the first
   * that need not.
   */
  async function findDue(name: JobName): Promise<SlotRequest[]> {
    const found: SlotRequest[] = [];
    while (found.length < MAX_LOOKED_AHEAD) {
      const known = found.map(({ stepId }) => stepId);
      const request = await findRunnable((except) => source.next(name, owner, [...except, ...known]));
      if (request === null) break;
      found.push(request);
      const state = slots.read();
      const hasRoom = (one: SlotRequest) => findPlace(state, limits, one) !== null;
      if (request.needs === null || hasRoom(request)) break;
      // No other job of this name can start either.
      if (!hasRoom({ ...request, stepId: "", needs: { ...request.needs, languages: [], bytes: 0 } })) break;
    }
    return found;
  }

  /** Starts due jobs, and asks others to make room. Returns the milliseconds until the next look. */
  async function startDueJobs(): Promise<number | null> {
    for (;;) {
      const due = (await Promise.all(JOB_NAMES.map(findDue))).flat();
      const dueAlone = await findRunnable((except) => source.nextAlone(owner, except));
      if (poller.isStopped) return null;
      const state = slots.read({ due, dueAlone });
      const decision = decideNext(state, limits);
      slots.setDraining(decision.draining);
      const { start: next } = decision;
      if (next === null) {
        makeRoom(decision);
        logWaiting(state, limits.slots);
        const dueInMs = await source.nextDueInMs();
        return Math.max(MIN_POLL_MS, Math.min(decision.changesInMs ?? MAX_POLL_MS, dueInMs ?? MAX_POLL_MS));
      }
      log.debug("job.placed", {
        job: next.request.stepId,
        place: next.placeId,
        passed_over: listPassedOver(state, next.request, next.placeId),
      });
      if (slots.grant(next.request, next.placeId)) continue;
      const job = await source.claim(next.request.stepId, owner, leaseMs);
      if (job && poller.isStopped) await source.release(job, owner);
      else if (job) start(job, next);
    }
  }

  function makeRoom({ yielding, interrupted }: SchedulingDecision): void {
    for (const [stepId, entry] of running) {
      entry.shouldYield = yielding.has(stepId);
      if (interrupted.has(stepId)) entry.abort.abort(new JobAborted("interrupted"));
    }
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
      heartbeat = setInterval(
        () => renewLeases().catch((error) => log.error("job.heartbeat_failed", { error })),
        heartbeatMs,
      );
      poller.start();
    },
    wake: poller.wake,
    cancel: (stepId) => running.get(stepId)?.abort.abort(new JobAborted("cancelled")),
    stop: async () => {
      clearInterval(heartbeat);
      await poller.stop();
      const entries = [...running.values()];
      for (const entry of entries) entry.abort.abort(new JobAborted("shutdown"));
      await Promise.all(entries.map((entry) => entry.ended));
    },
  };
}

const millisecondsSince = (start: number): number => Math.round(performance.now() - start);
