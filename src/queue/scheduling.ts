/** Decides which job starts next and which running ones make room. Pure: the runner in `embedded.ts` carries the decision out. */
import type { DueJob, JobName } from "../domain/jobs";

/** A job under way. `since`: when it started, on the clock of `SchedulingState.now`. */
export type RunningJob = { stepId: string; name: JobName; userId: string; runsAlone: boolean; since: number };

/** All times are milliseconds on one monotonic clock. */
export type SchedulingState = {
  now: number;
  running: RunningJob[];
  /** For each name at most one: whose turn it is among the jobs that need not run alone. */
  due: DueJob[];
  /** The job that waits to run alone, null when none does. */
  dueAlone: DueJob | null;
  /** When the last job that ran alone left the server to the others, and for how long it had it. */
  lastAlone: { endedAt: number; forMs: number } | null;
  /** Since when nothing has been started so that `dueAlone` can run; null when that is not the case. */
  drainingSince: number | null;
};

export type SchedulingLimits = {
  /** How many jobs of each name run at the same time. */
  slots: Record<JobName, number>;
  /** How many more of each name may run, one for each user who has none running. */
  extraSlots: Record<JobName, number>;
  /** How long a job may run before it is asked to yield to somebody who has fewer running. */
  timeSliceMs: number;
  /** How long a job has the server to itself. After that it has shown that it does not bring it down at once, and others start beside it. */
  maxAloneMs: number;
  /** How long running jobs may take to yield to a job that runs alone before they are interrupted. */
  maxDrainMs: number;
};

export type SchedulingDecision = {
  start: DueJob | null;
  /** Step ids: asked to end at their next safe point. */
  yielding: Set<string>;
  /** Step ids: ended at once and requeued. */
  interrupted: Set<string>;
  isDraining: boolean;
  /** In how many milliseconds the answer may change without anything happening; null: never. */
  changesInMs: number | null;
};

/** Returns what to do now. Call it again after each start. */
export function decideNext(state: SchedulingState, limits: SchedulingLimits): SchedulingDecision {
  const { now, running } = state;
  const alone = running.find((job) => job.runsAlone);
  if (alone && now - alone.since < limits.maxAloneMs)
    return makeDecision({ changesInMs: alone.since + limits.maxAloneMs - now });
  // A job that has outlived its time alone is not interrupted for the next one of its kind: they would restart each other for ever.
  if (state.dueAlone === null || alone) return decideShared(state, limits);
  const restMs = state.lastAlone === null ? 0 : state.lastAlone.endedAt + state.lastAlone.forMs - now;
  const othersWait = running.length > 0 || state.due.length > 0;
  if (state.drainingSince === null && othersWait && restMs > 0) {
    const decision = decideShared(state, limits);
    return { ...decision, changesInMs: Math.min(restMs, decision.changesInMs ?? restMs) };
  }
  if (running.length === 0) return makeDecision({ start: state.dueAlone });
  const drainMs = (state.drainingSince ?? now) + limits.maxDrainMs - now;
  const all = new Set(running.map((job) => job.stepId));
  if (drainMs <= 0) return makeDecision({ isDraining: true, yielding: all, interrupted: all });
  return makeDecision({ isDraining: true, yielding: all, changesInMs: drainMs });
}

/** The rule between users: each name has its slots, and a user with nothing running does not wait for those of another. */
function decideShared({ now, running, due }: SchedulingState, limits: SchedulingLimits): SchedulingDecision {
  const decision = makeDecision({});
  for (const job of due) {
    const sameName = running.filter((mate) => mate.name === job.name);
    const slots = limits.slots[job.name] + (job.running === 0 ? limits.extraSlots[job.name] : 0);
    if (sameName.length < slots) return makeDecision({ start: job });
    const countOf = (userId: string) => sameName.filter((mate) => mate.userId === userId).length;
    const longest = sameName
      .filter((mate) => countOf(mate.userId) > job.running)
      .reduce<RunningJob | null>((a, b) => (a !== null && a.since <= b.since ? a : b), null);
    if (longest === null) continue;
    const leftMs = longest.since + limits.timeSliceMs - now;
    if (leftMs <= 0) decision.yielding.add(longest.stepId);
    else decision.changesInMs = Math.min(leftMs, decision.changesInMs ?? leftMs);
  }
  return decision;
}

const makeDecision = (change: Partial<SchedulingDecision>): SchedulingDecision => ({
  start: null,
  yielding: new Set(),
  interrupted: new Set(),
  isDraining: false,
  changesInMs: null,
  ...change,
});
