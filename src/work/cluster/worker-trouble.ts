/**
 * Tracks the workers that failed recently, so that a step whose execution failed or was lost runs elsewhere next if
 * possible. A worker that fails immediately is always free, and would otherwise use up the attempts of every step.
 */
import { AppError } from "../../domain/errors";
import { isSystemError } from "../../lib/error-codes";
import type { ExecutionEnd } from "./execution";

/** Time for which a worker receives no new executions, at first and at most. It doubles each time. */
const WAITS = {
  /** It gave an execution back. */
  released: { firstMs: 5_000, maxMs: 5_000 },
  /** It takes no tickets. */
  not_taken: { firstMs: 5_000, maxMs: 60_000 },
  disk_full: { firstMs: 15_000, maxMs: 600_000 },
};
type WaitReason = keyof typeof WAITS;
const REASONS = Object.keys(WAITS) as WaitReason[];
/** After this time without trouble, the next wait is a first one. */
const WAIT_MEMORY_MS = 1_800_000;
/** After a lost execution: the worker has restarted, or was cut off. */
const LOST_MS = 30_000;
/** After a failed one, which fails again on a machine with a fault. */
const FAILED_MS = 600_000;

/** `clock` in milliseconds. */
export function createWorkerTrouble(clock: () => number) {
  const waits = new Map<string, { forMs: number; until: number }>();
  /** Workers that have completed nothing since they failed. */
  const failing = new Set<string>();
  const steps = new Map<string, number>();
  const toKey = (workerId: string, what: string) => `${what} ${workerId}`;

  /** Records that a worker has not taken a ticket, has given an execution back, or has a full disk. */
  function avoid(workerId: string, reason: WaitReason): void {
    const key = toKey(workerId, reason);
    const before = waits.get(key);
    // Executions that ran beside the first one fail for the same reason. A worker that stops returns its executions one
    // after the other, so each starts the wait again.
    if (before && reason !== "released" && clock() < before.until) return;
    const { firstMs, maxMs } = WAITS[reason];
    const forMs = Math.min(maxMs, Math.max(firstMs, 2 * (before?.forMs ?? 0)));
    waits.set(key, { forMs, until: clock() + forMs });
  }

  return {
    avoid,
    /** Records how an execution ended. `error`: that of the job, or null. */
    record: (workerId: string, stepId: string, outcome: ExecutionEnd, error: unknown) => {
      const key = toKey(workerId, stepId);
      if (outcome === "aborted" || outcome === "released") return;
      if (outcome === "disk_full") {
        steps.set(key, clock() + FAILED_MS);
        avoid(workerId, outcome);
      } else if (outcome === "lost" || (outcome === "failed" && !isOfFile(error))) {
        failing.add(workerId);
        steps.set(key, clock() + (outcome === "lost" ? LOST_MS : FAILED_MS));
      } else {
        failing.delete(workerId);
        // The execution was taken before the current wait, which therefore continues.
        const wait = waits.get(toKey(workerId, "not_taken"));
        if (wait) wait.forMs = 0;
        steps.delete(key);
      }
    },
    /** Returns whether a worker gets nothing new for now. */
    isAvoided: (workerId: string) =>
      REASONS.some((reason) => (waits.get(toKey(workerId, reason))?.until ?? 0) > clock()),
    /**
     * Returns how much a worker is to be avoided for a step: 2 when it failed with the same one lately, 1 when with
     * another one, 0 else.
     */
    rank: (workerId: string, stepId: string) =>
      (steps.get(toKey(workerId, stepId)) ?? 0) > clock() ? 2 : failing.has(workerId) ? 1 : 0,
    prune: () => {
      const now = clock();
      for (const [key, until] of steps) if (until <= now) steps.delete(key);
      for (const [key, { until }] of waits) if (until + WAIT_MEMORY_MS <= now) waits.delete(key);
    },
  };
}

/** Returns whether the file or this server's storage caused the failure rather than the worker's machine. */
const isOfFile = (error: unknown): boolean =>
  isSystemError(error) || (error instanceof AppError && error.code !== "processing_failed");
