/** Decides which job starts next, and which running jobs make room for it. Pure: `runner.ts` acts on the decision. */
import type { DueJob, JobName } from "../domain/jobs";

/**
 * A running job. `since`: when it started, on the clock of `SchedulingState.now`. `runsAlone`: it has this machine to itself. `isElsewhere`:
 * it runs on another machine, where it does not disturb a job that runs alone here.
 */
export type RunningJob = {
  stepId: string;
  name: JobName;
  workspaceId: string;
  runsAlone: boolean;
  isElsewhere: boolean;
  since: number;
};

/** All times are milliseconds on one monotonic clock. */
export type SchedulingState = {
  now: number;
  running: RunningJob[];
  /** At most one job per name: the next in the fair order of workspaces, without jobs that run alone. */
  due: DueJob[];
  /** The job that is waiting to run alone, or null. */
  dueAlone: DueJob | null;
  /** When the last job that ran alone released the server, and how long it had the server to itself. */
  lastAlone: { endedAt: number; forMs: number } | null;
  /** Time since which no job has been started so that `dueAlone` can run; null when jobs may start. */
  drainingSince: number | null;
};

export type SchedulingLimits = {
  /** Slots of each job name. */
  slots: Record<JobName, number>;
  /** Extra slots of each name, at most one for each workspace without a running job of that name. */
  extraSlots: Record<JobName, number>;
  /** How long a job may run before it is asked to yield to a workspace with fewer running jobs. */
  timeSliceMs: number;
  /** How long a job runs alone. After this time it has not crashed the server, so other jobs may start. */
  maxAloneMs: number;
  /** How long running jobs have to yield to a job that runs alone before they are interrupted. */
  maxDrainMs: number;
};

export type SchedulingDecision = {
  start: DueJob | null;
  /** IDs of the steps to end at their next safe point. */
  yielding: Set<string>;
  /** IDs of the steps to abort and requeue. */
  interrupted: Set<string>;
  isDraining: boolean;
  /** Milliseconds until the decision may change with time alone; null: never. */
  changesInMs: number | null;
};

/** Previews are not urgent: one has the server to itself only while no other job runs or is due. */
const isBackground = ({ name }: { name: JobName }): boolean => name === "preview";

/** Returns what to do now. Call it again after each start. */
export function decideNext(state: SchedulingState, limits: SchedulingLimits): SchedulingDecision {
  const { now, running } = state;
  const alone = running.find((job) => job.runsAlone);
  const isOtherDue = [...state.due, ...(state.dueAlone ? [state.dueAlone] : [])].some((job) => !isBackground(job));
  if (alone && now - alone.since < limits.maxAloneMs) {
    const interrupted = new Set(isBackground(alone) && isOtherDue ? [alone.stepId] : []);
    return makeDecision({ interrupted, changesInMs: alone.since + limits.maxAloneMs - now });
  }
  // A job that has used its time alone is not interrupted for the next such job: they would restart each other forever.
  if (state.dueAlone === null || alone) return decideShared(state, limits);
  const here = running.filter((job) => !job.isElsewhere);
  if (isBackground(state.dueAlone) && (isOtherDue || here.some((job) => !isBackground(job))))
    return decideShared(state, limits);
  const restMs = state.lastAlone === null ? 0 : state.lastAlone.endedAt + state.lastAlone.forMs - now;
  const othersWait = here.length > 0 || state.due.length > 0;
  if (state.drainingSince === null && othersWait && restMs > 0) {
    const decision = decideShared(state, limits);
    return { ...decision, changesInMs: Math.min(restMs, decision.changesInMs ?? restMs) };
  }
  if (here.length === 0) return makeDecision({ start: state.dueAlone });
  const drainMs = (state.drainingSince ?? now) + limits.maxDrainMs - now;
  const all = new Set(here.map((job) => job.stepId));
  if (drainMs <= 0) return makeDecision({ isDraining: true, yielding: all, interrupted: all });
  return makeDecision({ isDraining: true, yielding: all, changesInMs: drainMs });
}

/** Shares the slots of each name between workspaces. A workspace without a running job need not wait for others. */
function decideShared({ now, running, due }: SchedulingState, limits: SchedulingLimits): SchedulingDecision {
  const decision = makeDecision({});
  for (const job of due) {
    const sameName = running.filter((mate) => mate.name === job.name);
    const slots = limits.slots[job.name] + (job.running === 0 ? limits.extraSlots[job.name] : 0);
    if (sameName.length < slots) return makeDecision({ start: job });
    const countOf = (workspaceId: string) => sameName.filter((mate) => mate.workspaceId === workspaceId).length;
    const longest = sameName
      .filter((mate) => countOf(mate.workspaceId) > job.running)
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
