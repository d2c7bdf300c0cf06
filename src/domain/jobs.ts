/** Jobs: what a runner carries, whichever runner it is. A job is a step's row; the runner holds a lease on it. */
import { AppError, type JobCode } from "./errors";

export const JOB_NAMES = ["prepare", "cut", "render"] as const;
export type JobName = (typeof JOB_NAMES)[number];

/**
 * A claimed step. `attempt` counts from 1; `failures` are the earlier attempts that ended in an error, `kernelKills` those that the kernel
 * ended. `runsAlone`: no other job may run beside it.
 */
export type Job = {
  stepId: string;
  pipelineId: string;
  userId: string;
  name: JobName;
  subjectId: string;
  attempt: number;
  failures: number;
  kernelKills: number;
  runsAlone: boolean;
};

/** A step that may be claimed. `running`: how many jobs of this name its user has running. */
export type DueJob = Pick<Job, "stepId" | "name" | "userId" | "runsAlone"> & { running: number };

/** Why a running job's signal was aborted. All but `cancelled` leave the step to a later run; `interrupted` makes room for a job that runs alone. */
export type AbortReason = "cancelled" | "shutdown" | "lost" | "interrupted";

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

/** A job that cannot run now, through no fault of its own. It runs again after `delayMs`; a start counts only when it did something. */
export class JobPostponed extends Error {
  constructor(
    readonly delayMs: number,
    readonly run: { isStarted: boolean },
  ) {
    super("free space is below the reserve: the job is postponed");
    this.name = "JobPostponed";
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
  /** Returns the due step of this name whose turn it is, fair between users and without those that run alone; null when none is due. */
  next(name: JobName, owner: string): Promise<DueJob | null>;
  /** Returns the due step that has waited longest to run alone; null when there is none. */
  nextAlone(owner: string): Promise<DueJob | null>;
  /** Takes a due step for `leaseMs`; null when it is no longer due. */
  claim(stepId: string, owner: string, leaseMs: number): Promise<Job | null>;
  /** Extends the leases and stores the progress; gives the ids of the steps that are no longer this owner's. */
  renew(running: { stepId: string; progress: number | null }[], owner: string, leaseMs: number): Promise<string[]>;
  /** Gives a step back unharmed: it was cut off, not failed. */
  release(job: Job, owner: string): Promise<void>;
  /** A run ended in an error: plans another one, or fails the step for good. */
  fail(job: Job, error: unknown): Promise<void>;
  /** When the next step that is not due yet will be, in milliseconds since 1970; null when there is none. */
  nextDue(): Promise<number | null>;
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
/** Kills by the kernel after which a step fails for good. After the first it runs alone. */
export const MAX_KERNEL_KILLS = 2;
/** Starts of a step that an unclean exit of the server ended, after which it runs alone. */
export const MIN_UNCLEAN_STARTS_ALONE = 2;

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
