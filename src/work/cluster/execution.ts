/** An execution on a worker: its parts, its state, and when it is lost. Times are in milliseconds. */
import type { WORKER_RUN_OUTCOMES } from "../../domain/states";
import type { ExecutionFile } from "../../domain/worker-messages";
import type { ExecutionKind } from "../../domain/workers";
import type { Semaphore } from "../../lib/semaphore";
import type { IncomingFiles, OutputRule } from "./incoming-files";
import { LOST_AFTER_MS, type WorkerContact } from "./worker-list";

/** A file that the worker may read. `path` is on this machine. */
export type ReadableFile = ExecutionFile & { path: string };

export type ExecutionRequest = {
  kind: ExecutionKind;
  stepId: string;
  subjectId: string;
  assetId: string;
  /** Differs between workspaces and says nothing else about them. */
  owner: string;
  input: unknown;
  files: ReadableFile[];
  outputs: OutputRule[];
  /** Amount of media, for the history of its worker. Default: unknown. */
  mediaSeconds?: number | null;
  /** Receives files that are not checked yet. */
  incomingDir: string;
  signal: AbortSignal;
  shouldYield(): boolean;
  progress(share: number): void;
  /**
   * Called after the named files are where they belong. Errors are those of the caller, and end the execution. Default:
   * it has no checkpoints.
   */
  checkpoint?: (checkpoint: unknown) => Promise<void>;
  /** Checks new files, before they are where they belong. `paths` by their names. Errors end the execution. */
  check?: (paths: ReadonlyMap<string, string>) => Promise<void>;
  /** Converts the worker's untrusted output to the result of the run. */
  finish?: (output: unknown) => Promise<unknown>;
};

export type ExecutionEnd = (typeof WORKER_RUN_OUTCOMES)[number];

/** An execution that has not ended. Times are those of a monotonic clock. */
export type Execution = {
  id: string;
  workerId: string;
  /** Null until a process has started it. */
  boot: string | null;
  request: ExecutionRequest;
  incoming: IncomingFiles;
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
  wrongResults: number;
  /**
   * Files are checked and moved for one call at a time: a worker may repeat a call whose answer it has not received.
   */
  turns: Semaphore;
  /** `value` is the output if it has completed, otherwise the error. Does nothing if it has ended already. */
  end(outcome: ExecutionEnd, value: unknown): void;
};

/** A ticket that was not taken is added again: Redis may have been emptied. */
const TICKET_INTERVAL_MS = 5_000;
/**
 * Number of heartbeats without an execution after which its worker has dropped it. The first may have been sent before
 * the execution started.
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

/** Records a heartbeat that lists the execution. */
export function recordProgress(execution: Execution, progress: number | null, now: number): void {
  execution.missing = 0;
  if (progress === null) return;
  if (progress >= execution.share + MIN_PROGRESS)
    Object.assign(execution, { share: progress, grownAt: now, progressedAt: now });
  execution.request.progress(progress);
}

/** Records a heartbeat that does not list the execution. Returns whether the worker has dropped it. */
export const recordMissing = (execution: Execution): boolean => ++execution.missing >= MAX_MISSING;

/** Returns why an execution is lost; null while it is not. `isReachable`: Redis is. */
export function findLoss(execution: Execution, contact: WorkerContact, isReachable: boolean, now: number) {
  const { boot, workerId, createdAt, grownAt, progressedAt, request } = execution;
  if (boot === null) {
    const isCutOff = !isReachable || contact.isSilent(workerId);
    const maxMs = isCutOff ? TICKET_INTERVAL_MS : LOST_AFTER_MS;
    return now - createdAt >= maxMs ? "the worker has not taken the ticket" : null;
  }
  if (!contact.isConnected(workerId)) return "the worker sends no heartbeats";
  const maxMs = MAX_STALLED_MS + MAX_STALLED_MS_PER_SECOND * (request.mediaSeconds ?? 0);
  const isStalled = now - progressedAt >= maxMs || now - grownAt >= MAX_STALLS_WITHOUT_SHARE * maxMs;
  return isStalled ? "the worker makes no progress" : null;
}

/** Returns whether the ticket is to be added again. */
export const isTicketDue = ({ boot, ticketAt }: Execution, now: number): boolean =>
  boot === null && now - ticketAt >= TICKET_INTERVAL_MS;
