/** The contract between job runners and the product, and the retry policy. A job is a claimed row of `steps`. */
import { AppError, type JobCode } from "./errors";
import type { PlaceView } from "./places";

export const JOB_NAMES = ["prepare", "cut", "render", "preview"] as const;
export type JobName = (typeof JOB_NAMES)[number];

/** Properties of a kind of job. Its requirements on a place are in `workers.ts`. */
export type JobKind = {
  /** The kind of resource that it works on. */
  subject: "asset" | "cut" | "render";
  /**
   * `user`: asks for it, alone or in a chain. `upload`: it starts with the asset. `server`: no user sees its pipeline.
   */
  startedBy: "user" | "upload" | "server";
  /** The setting with its price; null for a job that costs nothing as a step. */
  price: "cutStepCredits" | "renderStepCredits" | null;
  /**
   * Number of additional jobs that may run at the same time, at most one per workspace. 0 for jobs that use all cores
   * and yield between chunks.
   */
  extraSlots: number;
  /** No user waits for it: it runs alone only while no other job runs or is due. */
  isBackground: boolean;
  /** The error codes that fail it without a retry, because another attempt would fail too. */
  permanentCodes: readonly JobCode[];
};

export const JOB_FACTS: Record<JobName, JobKind> = {
  prepare: {
    subject: "asset",
    startedBy: "upload",
    // Its asset has a price.
    price: null,
    extraSlots: 4,
    isBackground: false,
    permanentCodes: ["unsupported_media", "corrupt_media", "no_media_streams", "media_limits_exceeded"],
  },
  cut: {
    subject: "cut",
    startedBy: "user",
    price: "cutStepCredits",
    extraSlots: 4,
    isBackground: false,
    permanentCodes: ["no_speech", "script_mismatch", "transcription_unavailable", "cancelled"],
  },
  render: {
    subject: "render",
    startedBy: "user",
    price: "renderStepCredits",
    extraSlots: 0,
    isBackground: false,
    permanentCodes: ["media_limits_exceeded", "storage_full"],
  },
  preview: {
    subject: "asset",
    startedBy: "server",
    price: null,
    extraSlots: 0,
    isBackground: true,
    permanentCodes: ["media_limits_exceeded"],
  },
};

/**
 * A claimed step. `attempt` counts from 1. `failures` counts the earlier attempts that threw an error, `kernelKills`
 * those that the kernel killed. If `runsAlone`, no other job may run at the same time.
 */
export type Job = {
  stepId: string;
  pipelineId: string;
  workspaceId: string;
  name: JobName;
  subjectId: string;
  attempt: number;
  failures: number;
  kernelKills: number;
  runsAlone: boolean;
};

/** A step that may be claimed. */
export type DueJob = Pick<Job, "stepId" | "name" | "workspaceId" | "runsAlone">;

/**
 * Why a running job was aborted. Except for `cancelled`, the step runs again later. `lost`: another attempt has
 * replaced this one. `interrupted`: it makes room for a job that runs alone.
 */
export type AbortReason = "cancelled" | "shutdown" | "lost" | "interrupted";

export class JobAborted extends Error {
  constructor(readonly reason: AbortReason) {
    super(`job ${reason}`);
    this.name = "JobAborted";
  }
}

/** Thrown by a job that was asked to yield. The next attempt resumes from its saved work. */
export class JobYielded extends Error {
  constructor() {
    super("job yielded");
    this.name = "JobYielded";
  }
}

/** Thrown when the job's child process received a SIGKILL from the kernel, which ran out of memory. */
export class JobKilled extends Error {
  constructor() {
    super("the kernel killed the job's child process");
    this.name = "JobKilled";
  }
}

/**
 * Thrown when the machine that ran the job is gone, unreachable or stopping. The job runs again. If `hasStarted`, the
 * attempt counts, so that a job that crashes machines does not run forever; it never counts as a failure.
 */
export class ExecutionLost extends Error {
  constructor(
    reason: string,
    readonly hasStarted: boolean,
  ) {
    super(`execution lost: ${reason}`);
    this.name = "ExecutionLost";
  }
}

/** Thrown when the server's storage prevents a job. It runs again after `delayMs`; unstarted attempts do not count. */
export class JobPostponed extends Error {
  constructor(
    readonly delayMs: number,
    readonly run: { isStarted: boolean },
    reason = "a folder is offline, or free space is below the reserve",
  ) {
    super(`job postponed: ${reason}`);
    this.name = "JobPostponed";
  }
}

export type JobContext = {
  /** The reason is a `JobAborted`. */
  signal: AbortSignal;
  /** Returns whether a less served workspace is waiting. A resumable job then throws `JobYielded` at a safe point. */
  shouldYield(): boolean;
  /** Reports the finished share, 0 to 1. A lower share than before is ignored. */
  progress(share: number): void;
  /**
   * The slot that the job was started in. It is released at the end of the job, or earlier by a job that asks for
   * others.
   */
  slot: Slot;
  /** More places for the parts of a job. */
  places: JobPlaces;
};

/** A slot at a place, which may be released more than once. */
export type Slot = { placeId: string; release(): void };

export type JobPlaces = {
  /** Lists the places that can do what the job needs, also those without a free slot. */
  list(): PlaceView[];
  /**
   * Asks for slots at the places for which `wants` returns true, in the fair order of workspaces. `onSlot` is called
   * with each one until `close`; `wake` asks again after `wants` has changed.
   */
  request(wants: (placeId: string) => boolean, onSlot: (slot: Slot) => void): { wake(): void; close(): void };
};

/** Runs the job and stores its result and the step's end in one transaction. Errors go to `JobSource.fail`. */
export type JobHandler = (job: Job, context: JobContext) => Promise<void>;

export type JobSource = {
  /**
   * Returns the due step of this name that is next in the fair order of workspaces, excluding steps that run alone and
   * the step IDs in `except`; null if none is due.
   */
  next(name: JobName, owner: string, except: readonly string[]): Promise<DueJob | null>;
  /** Returns the due step that has waited longest to run alone and is not in `except`, or null. */
  nextAlone(owner: string, except: readonly string[]): Promise<DueJob | null>;
  /** Claims a due step with a lease of `leaseMs`. Returns null if it is no longer due. */
  claim(stepId: string, owner: string, leaseMs: number): Promise<Job | null>;
  /** Extends the leases and stores the progress. Returns the IDs of the steps that no longer belong to the owner. */
  renew(running: { stepId: string; progress: number | null }[], owner: string, leaseMs: number): Promise<string[]>;
  /** Requeues a job that was interrupted or has yielded. The attempt is not counted. */
  release(job: Job, owner: string): Promise<void>;
  /** Requeues a job that threw `error`, or fails it permanently, as `decideRetry` says. */
  fail(job: Job, error: unknown): Promise<void>;
  /** Returns the milliseconds until the next step becomes due; null if no step is waiting. */
  nextDueInMs(): Promise<number | null>;
};

export type Runner = {
  start(): void;
  /** Looks for due jobs. */
  wake(): void;
  /** Aborts the step if it is running here. */
  cancel(stepId: string): void;
  /** Aborts all running jobs, waits until they have ended, and requeues them. */
  stop(): Promise<void>;
};

/** Number of failures after which a step fails permanently. */
export const MAX_FAILURES = 3;
/** Number of attempts after which a step fails permanently. Most of them must have ended with the server. */
export const MAX_ATTEMPTS = 12;
/** Number of kills by the kernel after which a step fails permanently. After the first one it runs alone. */
export const MAX_KERNEL_KILLS = 2;
/** Number of unclean exits of the server during a step after which the step runs alone. */
export const MIN_UNCLEAN_STARTS_ALONE = 2;

const RETRY_DELAYS_MS = [0, 2_000, 15_000];

/** Returns how long a step waits after its nth failure, in milliseconds; null when it has failed permanently. */
export function retryDelayMs(failures: number): number | null {
  return failures >= MAX_FAILURES ? null : RETRY_DELAYS_MS[failures]!;
}

/** Returns whether another attempt would end with the same error. */
export const isPermanent = (name: JobName, error: unknown): error is AppError<JobCode> =>
  error instanceof AppError &&
  (error.details.isPermanent === true || JOB_FACTS[name].permanentCodes.some((code) => code === error.code));

/** The fate of a job that threw an error. The counts of a requeued job replace those of the step. */
export type RetryDecision =
  | { kind: "fail"; code: string; message: string }
  | { kind: "requeue"; delayMs: number; attempts: number; failures: number; kernelKills: number };

const INTERNAL_ERROR = "Internal error. Details are in the server log.";
const KILLED_TWICE =
  "File needs more memory than the server has: its processing was killed twice, the second time while no other job was running.";

/** Decides what happens to a job that threw `error`. */
export function decideRetry(job: Job, error: unknown): RetryDecision {
  const { attempt, failures, kernelKills } = job;
  const requeue = { kind: "requeue", delayMs: 0, attempts: attempt, failures, kernelKills } as const;
  if (error instanceof JobKilled) {
    // The next attempt runs alone, so that no other job takes the memory.
    if (kernelKills + 1 < MAX_KERNEL_KILLS) return { ...requeue, kernelKills: kernelKills + 1 };
    return { kind: "fail", code: "processing_failed", message: KILLED_TWICE };
  }
  if (error instanceof ExecutionLost) return { ...requeue, attempts: error.hasStarted ? attempt : attempt - 1 };
  if (error instanceof JobPostponed) {
    const attempts = error.run.isStarted ? attempt : attempt - 1;
    return { ...requeue, delayMs: error.delayMs, attempts };
  }
  if (isPermanent(job.name, error)) return { kind: "fail", code: error.code, message: toSentence(error.message) };
  const delayMs = retryDelayMs(failures + 1);
  if (delayMs !== null) return { ...requeue, delayMs, failures: failures + 1 };
  // The message of any other error may contain paths of the server.
  const isShown = error instanceof AppError && error.code === "processing_failed";
  return { kind: "fail", code: "processing_failed", message: isShown ? toSentence(error.message) : INTERNAL_ERROR };
}

/** Returns the message with a capital letter and a period. */
function toSentence(message: string): string {
  const end = /[.!?]$/.test(message) ? "" : ".";
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${end}`;
}
