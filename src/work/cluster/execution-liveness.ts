/**
 * Tracks which executions are alive: heartbeats renew them, and a check every second finds lost ones and repeats
 * tickets. Times are those of a monotonic clock, in milliseconds.
 */
import type { WorkerBoot, WorkerHeartbeat } from "../../domain/worker-messages";
import type { ExecutionRequest } from "./execution-request";
import { LOST_AFTER_MS, type WorkerContact } from "./worker-contact";
import type { WorkerTrouble } from "./worker-trouble";

/** A ticket that was not taken is added again: Redis may have been emptied. */
const TICKET_INTERVAL_MS = 5_000;
/**
 * A worker that does not list an execution in so many heartbeats has dropped it. One may have been sent before the
 * execution was started.
 */
const MAX_MISSING = 3;
/**
 * Time without progress after which an execution is lost, for any recording and for each second of it. Planning reports
 * none while it waits for the recognizer.
 */
const MAX_STALLED_MS = 3_600_000;
const MAX_STALLED_MS_PER_SECOND = 2_000;
/**
 * Factor of the stall time for which reading and sending files counts as progress: a worker could repeat it forever.
 */
const MAX_STALLS_WITHOUT_SHARE = 10;
/** Minimum increase that counts as progress. */
const MIN_PROGRESS = 0.001;
const CHECK_INTERVAL_MS = 1_000;

/** The state of an execution that has not ended. `boot` is null until a process has started it. */
export type TrackedExecution = {
  id: string;
  workerId: string;
  boot: string | null;
  request: ExecutionRequest;
  createdAt: number;
  ticketAt: number;
  /** The share that last counted as progress. */
  share: number;
  /** When the share grew, or the execution was created. */
  grownAt: number;
  /** When the share grew, or the worker read or sent something of it. */
  progressedAt: number;
  isYielding: boolean;
  /** Number of its worker's heartbeats that did not list it. */
  missing: number;
  /** The check of its result. The execution no longer depends on heartbeats. */
  finishing: Promise<void> | null;
};

type LivenessOptions<E extends TrackedExecution> = {
  /** The executions that have not ended, by ID. */
  running: ReadonlyMap<string, E>;
  /** Returns whether the execution has ended with a result. */
  isAccepted(id: string): boolean;
  contact: WorkerContact;
  /** Whether tickets can be added. */
  isReachable(): boolean;
  addTicket(execution: E): void;
  lose(execution: E, reason: string): void;
  trouble: Pick<WorkerTrouble, "avoid" | "prune">;
  /** Called when a worker may have room again. */
  onRoom(): void;
  clock(): number;
};

function isStalled({ grownAt, progressedAt, request: { mediaSeconds } }: TrackedExecution, now: number): boolean {
  const maxMs = MAX_STALLED_MS + MAX_STALLED_MS_PER_SECOND * (mediaSeconds ?? 0);
  return now - progressedAt >= maxMs || now - grownAt >= MAX_STALLS_WITHOUT_SHARE * maxMs;
}

export function createExecutionLiveness<E extends TrackedExecution>(options: LivenessOptions<E>) {
  const { running, contact, isAccepted, isReachable, addTicket, lose, trouble, onRoom, clock } = options;
  /** Executions that workers still run although they have ended here, by worker. */
  const ending = new Map<string, Set<string>>();
  let lastCheck = clock();
  let checking: Timer | undefined;

  /** Renews what the worker runs. Returns what it must end at once, and what at the next safe point. */
  function heartbeat({ workerId, bootId }: WorkerBoot, reported: WorkerHeartbeat["running"]) {
    const now = clock();
    contact.record(workerId);
    const abort: string[] = [];
    const yielding: string[] = [];
    for (const { execution: id, progress } of reported) {
      const execution = running.get(id);
      if (execution?.workerId !== workerId || execution.boot !== bootId) {
        // A worker lists a ticket from the moment it takes it.
        if (execution?.boot !== null) abort.push(id);
        continue;
      }
      execution.missing = 0;
      if (progress !== null) {
        if (progress >= execution.share + MIN_PROGRESS)
          Object.assign(execution, { share: progress, grownAt: now, progressedAt: now });
        execution.request.progress(progress);
      }
      if (execution.request.shouldYield()) {
        execution.isYielding = true;
        yielding.push(id);
      }
    }
    const listed = new Set(reported.map(({ execution }) => execution));
    for (const execution of [...running.values()]) {
      const isMissing = execution.boot === bootId && execution.workerId === workerId && !listed.has(execution.id);
      if (isMissing && execution.finishing === null && ++execution.missing >= MAX_MISSING)
        lose(execution, "the worker has dropped it");
    }
    const before = ending.get(workerId)?.size ?? 0;
    const left = new Set(abort.filter((id) => !isAccepted(id)));
    if (left.size > 0) ending.set(workerId, left);
    else ending.delete(workerId);
    if (left.size < before) onRoom();
    return { abort, yield: yielding };
  }

  function checkOne(execution: E, now: number): void {
    const { boot, workerId, createdAt, ticketAt, finishing } = execution;
    if (finishing !== null) return;
    if (boot !== null) {
      if (!contact.isConnected(workerId)) lose(execution, "the worker sends no heartbeats");
      else if (isStalled(execution, now)) lose(execution, "the worker makes no progress");
      return;
    }
    const isCutOff = !isReachable() || contact.isSilent(workerId);
    if (now - createdAt >= (isCutOff ? TICKET_INTERVAL_MS : LOST_AFTER_MS)) {
      trouble.avoid(workerId, "not_taken");
      lose(execution, "the worker has not taken the ticket");
    } else if (now - ticketAt >= TICKET_INTERVAL_MS) addTicket(execution);
  }

  /** Ends lost executions, and repeats tickets. Called every second once started. */
  function check(): void {
    const now = clock();
    // A process that was suspended has received no heartbeats meanwhile.
    const stalled = now - lastCheck - CHECK_INTERVAL_MS;
    lastCheck = now;
    if (stalled > CHECK_INTERVAL_MS) {
      for (const execution of running.values()) {
        execution.grownAt += stalled;
        execution.progressedAt += stalled;
      }
      contact.postpone(stalled);
    }
    for (const execution of [...running.values()]) checkOne(execution, now);
    trouble.prune();
    onRoom();
  }

  return {
    heartbeat,
    /** Records that the worker still runs an execution that has ended here. */
    expectEnd: (workerId: string, id: string) => {
      const left = ending.get(workerId) ?? new Set();
      ending.set(workerId, left.add(id));
    },
    /** Returns how many ended executions the worker still runs. */
    countEnding: (workerId: string) => ending.get(workerId)?.size ?? 0,
    forgetWorker: (workerId: string) => void ending.delete(workerId),
    check,
    startChecking: () => {
      lastCheck = clock();
      checking = setInterval(check, CHECK_INTERVAL_MS);
    },
    stop: () => clearInterval(checking),
  };
}
