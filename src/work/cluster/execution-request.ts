/** The parts of an execution on a worker, and its result. */
import type { Job } from "../../domain/jobs";
import type { WORKER_RUN_OUTCOMES } from "../../domain/states";
import type { ExecutionFile, ExecutionKind, SentFile } from "../../domain/workers";
import type { JobOutput, RunContext } from "../jobs/definition";
import type { OutputRule } from "./incoming-files";

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
  /** Amount of media, for the history of its worker; null if unknown. */
  mediaSeconds: number | null;
  /** Receives files that are not checked yet. */
  incomingDir: string;
  signal: AbortSignal;
  shouldYield(): boolean;
  progress(share: number): void;
  /** Called after the named files are where they belong. Errors are those of the caller, and end the execution. */
  checkpoint(checkpoint: unknown): Promise<void>;
  /** Checks new files, before they are where they belong. `paths` by their names. Errors end the execution. */
  check(paths: ReadonlyMap<string, string>): Promise<void>;
};

/** The outcome of an execution, for the history of its worker. */
export type ExecutionEnd = (typeof WORKER_RUN_OUTCOMES)[number];

/** What executions tell the list of workers. */
export type ExecutionHistory = {
  startRun(workerId: string, run: { execution: string; kind: ExecutionKind; stepId: string; subjectId: string }): void;
  endRun(execution: string, outcome: ExecutionEnd, mediaSeconds: number | null): void;
};

/** A process of a worker. */
export type WorkerProcess = { workerId: string; bootId: string };

/** The final report of a worker. `error` as in `work/job-child/error-codec.ts`. */
export type ExecutionReport =
  | { status: "completed"; output: unknown; files: SentFile[] }
  | { status: "failed"; error: object }
  | { status: "yielded" }
  | { status: "released" };

/** The context of an execution. `progress` is 0 to 1. */
export type ExecutionContext = Pick<RunContext, "signal" | "shouldYield" | "workDir"> & {
  progress(share: number): void;
};

/** One execution on a worker. `checkpoint` and `check` as in `ExecutionRequest`. `finish` makes the output of the job of the worker's. */
export type ExecutionTask = {
  kind: ExecutionKind;
  job: Pick<Job, "stepId" | "subjectId" | "workspaceId">;
  assetId: string;
  input: unknown;
  files: ReadableFile[];
  outputs: OutputRule[];
  /** Amount of media. Default: unknown. */
  mediaSeconds?: number;
  context: ExecutionContext;
  checkpoint?: (checkpoint: unknown) => Promise<void>;
  check?: (paths: ReadonlyMap<string, string>) => Promise<void>;
  finish?: (output: unknown) => Promise<JobOutput>;
};
