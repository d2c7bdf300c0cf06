/** Jobs: what a runner carries, whichever runner it is. A job is a step's row; the runner holds a lease on it. */
import { AppError, type JobCode } from "./errors";

export const JOB_NAMES = ["prepare", "cut", "render"] as const;
export type JobName = (typeof JOB_NAMES)[number];

/** A claimed step. `attempt` counts from 1; `failures` are the earlier attempts that ended in an error. */
export type Job = {
  stepId: string;
  pipelineId: string;
  userId: string;
  name: JobName;
  subjectId: string;
  attempt: number;
  failures: number;
};

/** Why a running job's signal was aborted. `shutdown` and `lost` leave the step to a later run. */
export type AbortReason = "cancelled" | "shutdown" | "lost";

export class JobAborted extends Error {
  constructor(readonly reason: AbortReason) {
    super(`job ${reason}`);
    this.name = "JobAborted";
  }
}

/** Ends a run that was asked to yield; what it has done is kept for the next one. */
export class JobYielded extends Error {
  constructor() {
    super("the job yielded");
    this.name = "JobYielded";
  }
}

/** The job's child process was ended by a SIGKILL that this server did not send: the kernel ran out of memory for it. */
export class JobKilled extends Error {
  constructor() {
    super("the job's child process was killed by the kernel");
    this.name = "JobKilled";
  }
}

export type JobContext = {
  /** Its reason is a `JobAborted`. */
  signal: AbortSignal;
  /** Somebody waits who has been served less. A long job that can resume throws `JobYielded` at its next safe point. */
  shouldYield(): boolean;
  /** How much is done, 0 to 1; what goes back is ignored. */
  progress(share: number): void;
};

/** Does the job and writes its result and the step's end in one transaction. Throwing leaves the end to the runner. */
export type JobHandler = (job: Job, context: JobContext) => Promise<void>;

/** Where a runner finds its jobs. */
export type JobSource = {
  /** Takes the next due step of this name for `leaseMs`, fair between users; null when none is due. */
  claim(name: JobName, owner: string, leaseMs: number): Promise<Job | null>;
  /** Extends the leases and stores the progress; gives the ids of the steps that are no longer this owner's. */
  renew(running: { stepId: string; progress: number | null }[], owner: string, leaseMs: number): Promise<string[]>;
  /** Gives a step back unharmed: it was cut off, not failed. */
  release(job: Job, owner: string): Promise<void>;
  /** A run ended in an error: plans another one, or fails the step for good. */
  fail(job: Job, error: unknown): Promise<void>;
  /** Whose step `claim` would take now, and how many of this name that user has running; null when none is due. */
  next(name: JobName, owner: string): Promise<{ userId: string; running: number } | null>;
  /** When the next step of this name is due, in milliseconds since 1970; null when none waits. */
  nextDue(name: JobName): Promise<number | null>;
};

export type Runner = {
  start(): void;
  /** There may be something to do. */
  wake(): void;
  /** Aborts the step if it runs here. */
  cancel(stepId: string): void;
  /** Aborts what runs, waits until it has ended and gives it back. */
  stop(): Promise<void>;
};

/** Errors in a row after which a step fails for good, and starts after which it is taken to bring the server down. */
export const MAX_FAILURES = 3;
export const MAX_ATTEMPTS = 12;

/** How long a step waits after its nth error, in milliseconds; null: it has failed for good. */
export function retryDelayMs(failures: number): number | null {
  return failures >= MAX_FAILURES ? null : [0, 2_000, 15_000][failures]!;
}

/** The codes with which a job ends for good, because another try would meet them again. Anything else is `processing_failed` in the end. */
const PERMANENT_CODES: Record<JobName, readonly JobCode[]> = {
  prepare: ["unsupported_media", "corrupt_media", "no_media_streams", "media_limits_exceeded"],
  cut: ["no_speech", "script_mismatch", "transcription_unavailable", "cancelled"],
  render: ["media_limits_exceeded", "storage_full"],
};

/** An error that another try would meet again. */
export const isPermanent = (name: JobName, error: unknown): error is AppError<JobCode> =>
  error instanceof AppError &&
  (error.details.isPermanent === true || PERMANENT_CODES[name].some((code) => code === error.code));
