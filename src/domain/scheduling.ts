/**
 * Decides which job, or which part of a running job, starts next at which place, and which running jobs make room for
 * it. Pure: `queue/runner.ts` acts on the decision. A place is this machine, with slots for each name of jobs, or a
 * worker, whose slots are for all.
 */
import { JOB_FACTS, type Job, type JobName } from "./jobs";
import { canDo, findLack, LOCAL, type OnlineWorker, type PlaceNeeds, type PlaceView, type WorkerLack } from "./places";

/**
 * `ending`: slots of executions that have ended on the head but not yet on the worker. `isAvoided`: it gets nothing new
 * for now.
 */
export type WorkerPlace = OnlineWorker & { ending: number; isAvoided: boolean };

export type SlotJob = Pick<Job, "stepId" | "name" | "workspaceId" | "runsAlone">;

/** A job that is due, or a running job that asks for one more slot. `needs` null: only this machine can do it. */
export type SlotRequest = SlotJob & {
  needs: PlaceNeeds | null;
  /** Returns whether it wants a slot at this place. Default: at any. */
  wants?: (placeId: string) => boolean;
};

/** A slot in use. `isPart`: it is one of several of its job. `since`: on the clock of `SchedulingState.now`. */
export type HeldSlot = SlotJob & { placeId: string; since: number; isPart: boolean };

/** All times are milliseconds on one monotonic clock. */
export type SchedulingState = {
  now: number;
  held: readonly HeldSlot[];
  /** Slot requests of running jobs, in the order in which they were made. */
  waiting: readonly SlotRequest[];
  /** Jobs that are due and do not run alone. Those of one name are in the fair order of workspaces. */
  due: readonly SlotRequest[];
  /** The job that is waiting to run alone, or null. */
  dueAlone: SlotRequest | null;
  /** When the last job that ran alone here released this machine, and how long it had it to itself. */
  lastAlone: { endedAt: number; forMs: number } | null;
  /** The place that becomes empty for `dueAlone`, and since when. */
  draining: { placeId: string; since: number } | null;
  workers: readonly WorkerPlace[];
  /**
   * Returns how strongly to avoid a worker for a step: 2 if it recently failed with the same step, 1 with another one,
   * otherwise 0.
   */
  rank(workerId: string, stepId: string): number;
};

export type SchedulingLimits = {
  slots: Record<JobName, number>;
  /** Extra slots of each name, at most one for each workspace without a running job of that name here. */
  extraSlots: Record<JobName, number>;
  /** Time after which a job is asked to yield to a workspace with fewer slots. */
  timeSliceMs: number;
  /** Maximum time for which a job runs alone here. By then it has not crashed the server, so other jobs may start. */
  maxAloneMs: number;
  /** Time after which running jobs that have not yielded to a job that runs alone here are interrupted. */
  maxDrainMs: number;
};

export type SchedulingDecision = {
  start: { request: SlotRequest; placeId: string } | null;
  /** IDs of the steps to end at their next safe point. */
  yielding: Set<string>;
  /** IDs of the steps to abort and requeue. */
  interrupted: Set<string>;
  draining: SchedulingState["draining"];
  /** Milliseconds until the decision may change with time alone; null: never. */
  changesInMs: number | null;
};

/** The rank of a worker that has failed with the same step. */
const SAME_STEP = 2;

const isBackground = ({ name }: { name: JobName }): boolean => JOB_FACTS[name].isBackground;

/** Returns what to do now. Call it again after each start. */
export function decideNext(state: SchedulingState, limits: SchedulingLimits): SchedulingDecision {
  const closed = new Set(state.held.filter((slot) => slot.runsAlone && slot.placeId !== LOCAL).map(getPlaceId));
  const alone = decideAlone(state, limits, closed);
  return alone.start === null ? decideShared(state, limits, closed, alone) : alone;
}

/** Decides about the job that runs alone and the one that waits to. Adds places that start nothing else to `closed`. */
function decideAlone(state: SchedulingState, limits: SchedulingLimits, closed: Set<string>): SchedulingDecision {
  const { now, held, dueAlone, lastAlone, draining } = state;
  const decision = makeDecision({});
  const here = held.filter((slot) => slot.placeId === LOCAL);
  const alone = here.find((slot) => slot.runsAlone);
  const isOtherDue = [...state.due, ...(dueAlone ? [dueAlone] : [])].some(
    (job) => !isBackground(job) && canDoHere(job, limits),
  );
  if (alone && now - alone.since < limits.maxAloneMs) {
    closed.add(LOCAL);
    decision.changesInMs = alone.since + limits.maxAloneMs - now;
    if (isBackground(alone) && isOtherDue) decision.interrupted.add(alone.stepId);
  }
  if (dueAlone === null) return decision;
  const capable = listPreferred(state, dueAlone, listCapable(state, dueAlone), false);
  const isFree = ({ id, isAvoided }: WorkerPlace) => !isAvoided && !closed.has(id);
  const busy = (worker: WorkerPlace) => countBusy(state, worker);
  const reserved = capable.find(({ id }) => id === draining?.placeId && !closed.has(id));
  const worker = reserved ?? capable.filter(isFree).sort((a, b) => busy(a) - busy(b))[0];
  const drain = (placeId: string): number => {
    decision.draining = draining?.placeId === placeId ? draining : { placeId, since: now };
    closed.add(placeId);
    for (const slot of held) if (slot.placeId === placeId) decision.yielding.add(slot.stepId);
    return decision.draining.since;
  };
  if (worker) {
    if (busy(worker) === 0) return { ...decision, start: { request: dueAlone, placeId: worker.id } };
    drain(worker.id);
    return decision;
  }
  // A job that has used its time alone is not interrupted for the next such job: they would restart each other forever.
  if (capable.length > 0 || alone || !canDoHere(dueAlone, limits)) return decision;
  if (isBackground(dueAlone) && (isOtherDue || here.some((slot) => !isBackground(slot)))) return decision;
  const restMs = lastAlone === null ? 0 : lastAlone.endedAt + lastAlone.forMs - now;
  const othersWait = here.length > 0 || state.due.length > 0;
  if (draining?.placeId !== LOCAL && othersWait && restMs > 0) return { ...decision, changesInMs: restMs };
  if (here.length === 0) return { ...decision, start: { request: dueAlone, placeId: LOCAL } };
  const drainMs = drain(LOCAL) + limits.maxDrainMs - now;
  if (drainMs > 0) decision.changesInMs = drainMs;
  else for (const { stepId } of here) decision.interrupted.add(stepId);
  return decision;
}

/** Shares the slots between workspaces: the one that holds the fewest is next. */
function decideShared(
  state: SchedulingState,
  limits: SchedulingLimits,
  closed: ReadonlySet<string>,
  decision: SchedulingDecision,
): SchedulingDecision {
  const requests = [...state.waiting, ...state.due];
  const counts = new Map<string, number>();
  const count = (workspaceId: string, change: number) =>
    counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + change);
  for (const { workspaceId } of state.held) count(workspaceId, 1);
  const getCount = ({ workspaceId }: SlotJob) => counts.get(workspaceId) ?? 0;
  for (const request of requests.toSorted((a, b) => getCount(a) - getCount(b))) {
    const placeId = findPlace(state, limits, request, closed);
    if (placeId !== null) return { ...decision, start: { request, placeId } };
  }
  const isFirst = (request: SlotRequest) => state.due.find(({ name }) => name === request.name) === request;
  for (const request of [...state.waiting, ...state.due.filter(isFirst)]) {
    const workers = new Set(listCapable(state, request).map(({ id }) => id));
    // Slots of this machine are those of a name.
    const isMore = (slot: HeldSlot): boolean => {
      if (slot.placeId !== LOCAL) return workers.has(slot.placeId) && getCount(slot) > getCount(request);
      const inName = ({ workspaceId }: SlotJob) =>
        state.held.filter((one) => one.name === request.name && one.workspaceId === workspaceId).length;
      return slot.name === request.name && wants(request, LOCAL) && inName(slot) > inName(request);
    };
    const [longest] = state.held
      .filter((slot) => !slot.isPart && !decision.yielding.has(slot.stepId) && isMore(slot))
      .sort((a, b) => a.since - b.since);
    if (longest === undefined) continue;
    const leftMs = longest.since + limits.timeSliceMs - state.now;
    if (leftMs > 0) {
      decision.changesInMs = Math.min(leftMs, decision.changesInMs ?? leftMs);
      continue;
    }
    decision.yielding.add(longest.stepId);
    count(longest.workspaceId, -1);
    count(request.workspaceId, 1);
  }
  return decision;
}

/**
 * Returns the place where the request can start now: here, otherwise the worker with the largest free share, otherwise
 * an extra slot here. Returns null if none can start it.
 */
export function findPlace(
  state: SchedulingState,
  limits: SchedulingLimits,
  request: SlotRequest,
  closed: ReadonlySet<string> = new Set(),
): string | null {
  const isLocal = canDoHere(request, limits) && wants(request, LOCAL);
  const same = state.held.filter(({ placeId, name }) => placeId === LOCAL && name === request.name);
  const slots = getLocalSlots(request, limits);
  const isOpen = isLocal && !closed.has(LOCAL);
  if (isOpen && same.length < slots) return LOCAL;
  const [freest] = listPreferred(state, request, listCapable(state, request), isLocal)
    .filter(({ id }) => !closed.has(id))
    .map((worker) => ({
      id: worker.id,
      share: countFree(state, worker) / worker.announcement.slots,
      rank: state.rank(worker.id, request.stepId),
    }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => a.rank - b.rank || b.share - a.share);
  if (freest) return freest.id;
  const mayTakeExtra = same.every(({ workspaceId }) => workspaceId !== request.workspaceId);
  return isOpen && mayTakeExtra && same.length < slots + limits.extraSlots[request.name] ? LOCAL : null;
}

/** Lists the places that can do what a job needs, also those without a free slot. */
export function listPlaces(state: SchedulingState, limits: SchedulingLimits, request: SlotRequest): PlaceView[] {
  const slots = limits.slots[request.name];
  const used = state.held.filter(({ placeId, name }) => placeId === LOCAL && name === request.name).length;
  const here = { id: LOCAL, slots, free: Math.max(0, slots - used), worker: null };
  const workers = listCapable(state, request).map((worker) => ({
    id: worker.id,
    slots: worker.announcement.slots,
    free: countFree(state, worker),
    worker,
  }));
  return slots > 0 ? [here, ...workers] : workers;
}

/**
 * Why a worker is passed over for a request: `unwanted` by the request, `avoided` for now, `failed_step` lately, or
 * `full`.
 */
export type PassedOver = WorkerLack | "unwanted" | "avoided" | "failed_step" | "full";

/** Lists the workers that are passed over, by their IDs, for the log. `chosen`: the place that the request gets. */
export function listPassedOver(
  state: SchedulingState,
  request: SlotRequest,
  chosen: string | null = null,
): Record<string, PassedOver> {
  const { needs, stepId } = request;
  if (needs === null) return {};
  const find = (worker: WorkerPlace): PassedOver | null => {
    const lack = findLack(worker, needs);
    if (lack !== null) return lack;
    if (!wants(request, worker.id)) return "unwanted";
    if (worker.isAvoided) return "avoided";
    if (state.rank(worker.id, stepId) >= SAME_STEP) return "failed_step";
    return countFree(state, worker) === 0 ? "full" : null;
  };
  const others = state.workers.filter(({ id }) => id !== chosen);
  const found = others.map((worker) => [worker.id, find(worker)] as const);
  return Object.fromEntries(found.filter((one): one is [string, PassedOver] => one[1] !== null));
}

const getPlaceId = ({ placeId }: HeldSlot) => placeId;
const wants = ({ wants: isWanted = () => true }: SlotRequest, placeId: string): boolean => isWanted(placeId);

/**
 * Jobs that only this machine can run start here even without slots: their subject was deleted, or workers do not run
 * jobs of this name.
 */
const getLocalSlots = ({ name, needs }: SlotRequest, { slots }: SchedulingLimits): number =>
  needs === null ? Math.max(1, slots[name]) : slots[name];
const canDoHere = (request: SlotRequest, limits: SchedulingLimits): boolean => getLocalSlots(request, limits) > 0;

const listCapable = ({ workers }: SchedulingState, request: SlotRequest): WorkerPlace[] =>
  request.needs === null ? [] : workers.filter((worker) => canDo(worker, request.needs!) && wants(request, worker.id));

/**
 * Leaves out the workers that have failed with the same step lately, where another place can do it: the request rather
 * waits for that one.
 */
function listPreferred(state: SchedulingState, { stepId }: SlotRequest, capable: WorkerPlace[], isLocal: boolean) {
  const others = capable.filter(({ id, isAvoided }) => state.rank(id, stepId) < SAME_STEP && !isAvoided);
  return others.length > 0 || isLocal ? others : capable;
}

const countBusy = ({ held }: SchedulingState, { id, ending }: WorkerPlace): number =>
  held.filter(({ placeId }) => placeId === id).length + ending;

/** Returns how many slots of a worker may be taken now. */
const countFree = (state: SchedulingState, worker: WorkerPlace): number => {
  const isAlone = state.held.some(({ placeId, runsAlone }) => runsAlone && placeId === worker.id);
  const isClosed = worker.isAvoided || isAlone || state.draining?.placeId === worker.id;
  return isClosed ? 0 : Math.max(0, worker.announcement.slots - countBusy(state, worker));
};

const makeDecision = (change: Partial<SchedulingDecision>): SchedulingDecision => ({
  start: null,
  yielding: new Set(),
  interrupted: new Set(),
  draining: null,
  changesInMs: null,
  ...change,
});
