/** The parts of an execution on a worker, and its result. */
import type { WORKER_RUN_OUTCOMES } from "../../domain/states";
import type { ExecutionFile } from "../../domain/worker-messages";
import type { ExecutionKind } from "../../domain/workers";
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
  /** Makes the result of the run of what the worker says, which may be anything. */
  finish?: (output: unknown) => Promise<unknown>;
};

export type ExecutionEnd = (typeof WORKER_RUN_OUTCOMES)[number];
