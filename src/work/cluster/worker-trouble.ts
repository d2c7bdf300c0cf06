/**
 * Which workers have failed lately, so that a step whose execution failed or was lost runs elsewhere next, where that
 * is possible: a worker that fails at once is always free, and would use up the attempts of every step.
 */
import { AppError } from "../../domain/errors";
import type { ExecutionEnd } from "./execution";

/**
 * A worker that gave an execution back gets nothing new for this long; one that takes no tickets, twice as long each
 * time.
 */
const AVOID_MS = 5_000;
const MAX_AVOID_MS = 60_000;
/** After a lost execution: the worker has restarted, or was cut off. */
const LOST_MS = 30_000;
/** After a failed one, which fails again on a machine with a fault. */
const FAILED_MS = 600_000;
/** A worker whose disk was full gets nothing new for this long, and twice as long when it is full again soon after. */
const FULL_DISK_MS = 15_000;
const MAX_FULL_DISK_MS = 600_000;
const FULL_DISK_MEMORY_MS = 1_800_000;

/** `clock` in milliseconds. */
export function createWorkerTrouble(clock: () => number) {
  const avoidedUntil = new Map<string, number>();
  const notTaken = new Map<string, number>();
  const fullDisks = new Map<string, { forMs: number; until: number }>();
  /** Workers that have completed nothing since they failed. */
  const failing = new Set<string>();
  const steps = new Map<string, number>();
  const toKey = (workerId: string, stepId: string) => `${stepId} ${workerId}`;

  const avoidFor = (workerId: string, milliseconds: number) =>
    avoidedUntil.set(workerId, Math.max(avoidedUntil.get(workerId) ?? 0, clock() + milliseconds));

  function recordFullDisk(workerId: string): void {
    const before = fullDisks.get(workerId);
    // What ran there beside the first one has met the same disk.
    if (before && clock() < before.until) return;
    const forMs = before ? Math.min(MAX_FULL_DISK_MS, before.forMs * 2) : FULL_DISK_MS;
    fullDisks.set(workerId, { forMs, until: clock() + forMs });
    avoidFor(workerId, forMs);
  }

  return {
    /** Records how an execution ended. `error`: that of the job, or null. */
    record: (workerId: string, stepId: string, outcome: ExecutionEnd, error: unknown) => {
      const key = toKey(workerId, stepId);
      if (outcome === "aborted" || outcome === "released") return;
      if (outcome === "disk_full") {
        steps.set(key, clock() + FAILED_MS);
        return recordFullDisk(workerId);
      }
      if (outcome === "lost" || (outcome === "failed" && !isOfFile(error))) {
        failing.add(workerId);
        steps.set(key, clock() + (outcome === "lost" ? LOST_MS : FAILED_MS));
        return;
      }
      failing.delete(workerId);
      notTaken.delete(workerId);
      steps.delete(key);
    },
    /** Records that a worker has not taken a ticket, or has given an execution back. */
    avoid: (workerId: string, reason: "not_taken" | "released") => {
      const times = reason === "released" ? 0 : (notTaken.get(workerId) ?? 0);
      if (reason === "not_taken") notTaken.set(workerId, times + 1);
      avoidFor(workerId, Math.min(MAX_AVOID_MS, AVOID_MS * 2 ** times));
    },
    /** Returns whether a worker gets nothing new for now. */
    isAvoided: (workerId: string) => (avoidedUntil.get(workerId) ?? 0) > clock(),
    /**
     * Returns how much a worker is to be avoided for a step: 2 when it failed with the same one lately, 1 when with
     * another one, 0 else.
     */
    rank: (workerId: string, stepId: string) =>
      (steps.get(toKey(workerId, stepId)) ?? 0) > clock() ? 2 : failing.has(workerId) ? 1 : 0,
    prune: () => {
      const now = clock();
      for (const map of [avoidedUntil, steps]) for (const [key, until] of map) if (until <= now) map.delete(key);
      for (const [key, { until }] of fullDisks) if (until + FULL_DISK_MEMORY_MS <= now) fullDisks.delete(key);
    },
  };
}

export type WorkerTrouble = ReturnType<typeof createWorkerTrouble>;

/** Returns whether the file caused the failure rather than the machine. */
const isOfFile = (error: unknown): boolean => error instanceof AppError && error.code !== "processing_failed";
