/**
 * The places where executions run: this machine and the workers. A place has slots, which workspaces get in a fair order: who holds the fewest is
 * next, and when somebody with fewer waits, the one that has held a slot for longest is asked to yield it.
 */
import { ExecutionLost } from "../../domain/jobs";
import {
  canDo,
  type EncodingFacts,
  isSameEncoding,
  type OnlineWorker,
  type PlaceNeeds,
  type WorkerJob,
} from "../../domain/workers";
import type { WorkerTrouble } from "./worker-trouble";

export const LOCAL = "local";

export type PlaceRequest = {
  stepId: string;
  workspaceId: string;
  needs: PlaceNeeds;
  /** Whether the execution needs a place to itself. */
  runsAlone: boolean;
  /** Returns whether the caller wants this place. Default: any. */
  accepts?: ((placeId: string) => boolean) | undefined;
  signal: AbortSignal;
};

/** A slot that is taken. `placeId` is `LOCAL` or the ID of a worker. */
export type PlaceHold = {
  placeId: string;
  /** Whether a workspace with fewer slots is waiting. */
  shouldYield(): boolean;
  release(): void;
};

/** A suitable place. `free` counts slots. */
export type PlaceView = { id: string; slots: number; free: number; worker: OnlineWorker | null };

export type Places = {
  /**
   * Waits for a slot. Errors: the signal's reason; `ExecutionLost` when no place can run it any longer, or not alone.
   */
  acquire(request: PlaceRequest): Promise<PlaceHold>;
  /** Lists the places that can do it, also those without a free slot. */
  list(needs: PlaceNeeds): PlaceView[];
  /** Returns whether a suitable worker exists. */
  isForWorkers(needs: PlaceNeeds): boolean;
  /** Returns how many jobs of this name run at the same time at all places. */
  countSlots(job: WorkerJob): number;
  /** Returns whether the step runs on workers only. */
  isElsewhere(stepId: string): boolean;
  /** Call it when workers, their disks or Redis change, and periodically. */
  wake(): void;
};

export type PlacesOptions = {
  listWorkers(): OnlineWorker[];
  /** Returns how many slots of a worker are taken by executions that have ended here and not yet there. */
  countEnding(workerId: string): number;
  /** Recent failures of workers. */
  trouble: Pick<WorkerTrouble, "isAvoided" | "rank">;
  /** Whether workers can get executions. */
  isReachable(): boolean;
  localSlots: Record<WorkerJob, number>;
  /** How many more of each job run here, at most one for each workspace that runs none. */
  extraSlots: Record<WorkerJob, number>;
  /** Returns what this machine encodes with; null while that is not known. */
  findLocalEncoding(): EncodingFacts | null;
  timeSliceMs: number;
  /** Milliseconds on a monotonic clock. */
  clock(): number;
};

type Held = PlaceRequest & { placeId: string; since: number; isYielding: boolean };
/** `strandedAt`: since when no place can do it; null while one can. */
type Waiter = PlaceRequest & {
  strandedAt: number | null;
  grant(hold: PlaceHold): void;
  fail(error: unknown): void;
};

/** The rank of a worker that has failed with the same step. */
const SAME_STEP = 2;
/** A request that no place can do for this long is given back: its step is no longer claimed, and keeps no other from running. */
const MAX_STRANDED_MS = 20_000;
/** A job that runs alone here has not crashed the server by then. */
const MAX_ALONE_MS = 120_000;

export function createPlaces(options: PlacesOptions): Places {
  const { localSlots, extraSlots, trouble, clock } = options;
  const held = new Set<Held>();
  const waiting = new Set<Waiter>();
  /** The workers that become empty for a step that runs alone, by that step. */
  const emptying = new Map<Waiter, string>();

  const heldAt = (placeId: string) => [...held].filter((hold) => hold.placeId === placeId);
  const countBy = (workspaceId: string) => [...held].filter((hold) => hold.workspaceId === workspaceId).length;
  const countBusy = (workerId: string) => heldAt(workerId).length + options.countEnding(workerId);
  const isAloneAt = (placeId: string) => heldAt(placeId).some((hold) => hold.runsAlone);

  const listCapable = (needs: PlaceNeeds): OnlineWorker[] =>
    options.isReachable() ? options.listWorkers().filter((worker) => canDo(worker, needs)) : [];
  const canDoLocally = ({ job, encoding }: PlaceNeeds): boolean => {
    const local = options.findLocalEncoding();
    return localSlots[job] > 0 && (encoding === null || (local !== null && isSameEncoding(local, encoding)));
  };
  const hasRoomLocally = ({ needs: { job }, workspaceId }: PlaceRequest, withExtra: boolean): boolean => {
    const here = heldAt(LOCAL);
    if (here.some((hold) => hold.runsAlone && clock() - hold.since < MAX_ALONE_MS)) return false;
    const same = here.filter((hold) => hold.needs.job === job);
    const mayTakeExtra = withExtra && same.every((hold) => hold.workspaceId !== workspaceId);
    return same.length < localSlots[job] + (mayTakeExtra ? extraSlots[job] : 0);
  };
  const countFree = (worker: OnlineWorker): number =>
    isAloneAt(worker.id) || [...emptying.values()].includes(worker.id) || trouble.isAvoided(worker.id)
      ? 0
      : Math.max(0, worker.announcement.slots - countBusy(worker.id));

  /** Leaves out the workers that have failed with the same step lately, where another place can do it: the request rather waits for that one. */
  function preferOthers({ stepId }: PlaceRequest, capable: OnlineWorker[], isLocal: boolean): OnlineWorker[] {
    const others = capable.filter(({ id }) => trouble.rank(id, stepId) < SAME_STEP && !trouble.isAvoided(id));
    return others.length > 0 || isLocal ? others : capable;
  }

  /** Returns the place for a request now, or null. */
  function choose(request: Waiter): string | null {
    const { needs, accepts = () => true } = request;
    const isLocal = canDoLocally(needs) && accepts(LOCAL);
    const accepted = listCapable(needs).filter((worker) => accepts(worker.id));
    if (request.runsAlone) return chooseAlone(request, preferOthers(request, accepted, false));
    const capable = preferOthers(request, accepted, isLocal);
    if (isLocal && hasRoomLocally(request, false)) return LOCAL;
    const [freest] = capable
      .map((worker) => ({
        id: worker.id,
        free: countFree(worker),
        share: countFree(worker) / worker.announcement.slots,
        rank: trouble.rank(worker.id, request.stepId),
      }))
      .filter(({ free }) => free > 0)
      .sort((a, b) => a.rank - b.rank || b.share - a.share);
    if (freest) return freest.id;
    return isLocal && hasRoomLocally(request, true) ? LOCAL : null;
  }

  /** Returns an empty worker, or makes one empty. Throws `ExecutionLost` when there is none and this machine is in use. */
  function chooseAlone(request: Waiter, capable: OnlineWorker[]): string | null {
    const reserved = capable.find((worker) => worker.id === emptying.get(request));
    const others = new Set([...emptying].filter(([waiter]) => waiter !== request).map(([, id]) => id));
    const [least] = capable
      .filter((worker) => !others.has(worker.id) && !trouble.isAvoided(worker.id) && !isAloneAt(worker.id))
      .sort((a, b) => countBusy(a.id) - countBusy(b.id));
    const worker = reserved ?? least;
    if (worker) {
      emptying.set(request, worker.id);
      return countBusy(worker.id) === 0 ? worker.id : null;
    }
    emptying.delete(request);
    if (capable.length > 0) return null;
    if (canDoLocally(request.needs) && heldAt(LOCAL).length === 0) return LOCAL;
    throw new ExecutionLost("no worker can run it alone any more", false);
  }

  function grant(waiter: Waiter, placeId: string): void {
    const { stepId, workspaceId, needs, runsAlone, signal } = waiter;
    const hold: Held = { stepId, workspaceId, needs, runsAlone, signal, placeId, since: clock(), isYielding: false };
    waiting.delete(waiter);
    emptying.delete(waiter);
    held.add(hold);
    waiter.grant({
      placeId,
      shouldYield: () => hold.isYielding,
      release: () => {
        if (held.delete(hold)) wake();
      },
    });
  }

  /** Grants one request, the first in the fair order that has room. */
  function grantNext(): boolean {
    const ordered = [...waiting]
      .map((waiter, n) => ({ waiter, n, count: countBy(waiter.workspaceId) }))
      .sort((a, b) => a.count - b.count || a.n - b.n);
    for (const { waiter } of ordered) {
      try {
        const placeId = choose(waiter);
        if (placeId === null) continue;
        grant(waiter, placeId);
      } catch (error) {
        reject(waiter, error);
      }
      return true;
    }
    return false;
  }

  function reject(waiter: Waiter, error: unknown): void {
    waiting.delete(waiter);
    emptying.delete(waiter);
    waiter.fail(error);
  }

  /** Gives back requests that no place can meet any longer: the disk of the last worker is full, or it has left. */
  function rejectStranded(): void {
    for (const waiter of [...waiting]) {
      const isStranded = !canDoLocally(waiter.needs) && listCapable(waiter.needs).length === 0;
      waiter.strandedAt = isStranded ? (waiter.strandedAt ?? clock()) : null;
      if (waiter.strandedAt !== null && clock() - waiter.strandedAt >= MAX_STRANDED_MS)
        reject(waiter, new ExecutionLost("no machine can do it any more", false));
    }
  }

  /** Asks for each request that waits the longest-running execution of a workspace with more slots to yield, after its time slice. */
  function markYielding(): void {
    const emptied = new Set(emptying.values());
    for (const hold of held) hold.isYielding = emptied.has(hold.placeId);
    for (const waiter of waiting) {
      const count = countBy(waiter.workspaceId);
      const capable = new Set(listCapable(waiter.needs).map((worker) => worker.id));
      if (canDoLocally(waiter.needs)) capable.add(LOCAL);
      const [longest] = [...held]
        .filter((hold) => capable.has(hold.placeId) && (waiter.accepts?.(hold.placeId) ?? true))
        .filter((hold) => hold.placeId !== LOCAL || hold.needs.job === waiter.needs.job)
        .filter((hold) => !hold.isYielding && countBy(hold.workspaceId) > count)
        .sort((a, b) => a.since - b.since);
      if (longest && clock() - longest.since >= options.timeSliceMs) longest.isYielding = true;
    }
  }

  function wake(): void {
    while (grantNext());
    rejectStranded();
    markYielding();
  }

  return {
    acquire: (request) =>
      new Promise((resolve, reject) => {
        const { signal } = request;
        if (signal.aborted) return reject(signal.reason);
        const stop = () => {
          waiting.delete(waiter);
          emptying.delete(waiter);
          reject(signal.reason);
          wake();
        };
        const waiter: Waiter = {
          ...request,
          strandedAt: null,
          grant: (hold) => {
            signal.removeEventListener("abort", stop);
            resolve(hold);
          },
          fail: (error) => {
            signal.removeEventListener("abort", stop);
            reject(error);
          },
        };
        signal.addEventListener("abort", stop, { once: true });
        waiting.add(waiter);
        wake();
      }),
    list: (needs) => {
      const local = localSlots[needs.job];
      const used = heldAt(LOCAL).filter((hold) => hold.needs.job === needs.job).length;
      const here = { id: LOCAL, slots: local, free: Math.max(0, local - used), worker: null };
      const workers = listCapable(needs).map((worker) => ({
        id: worker.id,
        slots: worker.announcement.slots,
        free: countFree(worker),
        worker,
      }));
      return canDoLocally(needs) ? [here, ...workers] : workers;
    },
    isForWorkers: (needs) => listCapable(needs).length > 0,
    countSlots: (job) =>
      listCapable({ job, languages: [], bytes: 0, encoding: null }).reduce(
        (sum, worker) => sum + worker.announcement.slots,
        localSlots[job],
      ),
    isElsewhere: (stepId) => {
      const own = [...held].filter((hold) => hold.stepId === stepId);
      return own.length > 0 && own.every((hold) => hold.placeId !== LOCAL);
    },
    wake,
  };
}
