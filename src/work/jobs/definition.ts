/**
 * The parts of a job. `load` reads rows into a plain input, `run` turns files into files and facts on any machine,
 * `settle` writes the result. `registry.ts` has a definition for each job name and drives it.
 */
import type { Config } from "../../config";
import type { Job } from "../../domain/jobs";
import type { IncompleteFile } from "../../media/packets/incomplete-files";
import type { Queries } from "../../store/db";
import type { PartialTranscripts } from "../live/partial-transcripts";
import type { ConfigNeeds, CoreNeeds } from "../needs";
import type { MediaTools } from "./media-tools";

/** A file of a job. `name` is unique among the files of the job and names no folder. */
export type BlobRef = { name: string; bytes: number };

/** The input of `run`, as plain JSON. A blob is null if the recording has no such file. */
export type JobInput = { blobs: Record<string, BlobRef | null> };

/** The result of `run`: the files that it created and the facts about them. */
export type JobOutput = { blobs: BlobRef[] };

export type JobStage = "probing" | "extracting" | "transcribing" | "video" | "planning" | "rendering";

/** `share` is how much of the job is done, `stageShare` how much of the stage, both 0 to 1. */
export type JobProgress = { share: number; stage: JobStage; stageShare: number };

/** An input blob with parts that are on another machine. `fetch` as `PartialBlob.fetch`. */
export type InputParts = IncompleteFile & {
  fetch(range: { first: number; last: number }, signal: AbortSignal): Promise<void>;
};

/** `maxBytes`: how large it may become. */
type RenderCacheFile = { path: string; maxBytes: number };

/** The context of `run`, besides its tools and its input. Paths are absolute. */
export type RunContext<Checkpoint = never> = {
  /** Its reason is the error that `run` throws. */
  signal: AbortSignal;
  /** Whether the job is asked to yield. `run` then throws `JobYielded` at its next safe point, if it has one. */
  shouldYield(): boolean;
  progress(progress: JobProgress): void;
  log(event: string, fields: object): void;
  /** The workspace whose job it is. Speech recognition divides its time between owners. */
  owner: string;
  getInputPath(name: string): string;
  /**
   * Returns how the missing parts of an input blob are fetched; null when it is complete, as all are unless the context
   * has this function.
   */
  findInputParts?(name: string): InputParts | null;
  /**
   * Receives the output blobs. Only `run` writes to it, never a child process. A file that an earlier attempt left
   * there is complete.
   */
  outputDir: string;
  /** Keeps unfinished work between attempts. It is on the file system of `outputDir` and may not exist yet. */
  workDir: string;
  /**
   * The file with the segments that renders of the recording have encoded, on the same file system; undefined if none
   * is kept.
   */
  renderCache?: RenderCacheFile | undefined;
  /**
   * Stores an intermediate result before the job ends. Throws `JobAborted` when another attempt has replaced this one.
   */
  checkpoint(checkpoint: Checkpoint): Promise<void>;
};

/** An input with the folders of the job's blobs on the server. A worker machine has its own folders. */
export type LoadedJob<Input> = {
  input: Input;
  inputDir: string;
  outputDir: string;
  /** As in `RunContext`, for a run on the server. */
  renderCache?: RenderCacheFile;
};

/** The arguments of functions that write rows, besides the transaction. `now` is in milliseconds since 1970. */
export type SettleContext = { job: Job; now: number; config: Config };

/** The reason of a permanent failure. `message` is shown to the user. */
export type JobFailure = { code: string; message: string };

/** `cancelled`: the subject was deleted or cancelled while the job ran. */
export type JobEnd = "completed" | "failed" | "cancelled";

/** `partialTranscripts`: the words of recordings that are being transcribed. */
type CheckpointNeeds = CoreNeeds & { partialTranscripts: PartialTranscripts };

export type JobDefinition<Input extends JobInput, Checkpoint, Output extends JobOutput> = {
  /**
   * Behavior when the free space is below the reserve: the job continues, is postponed, or fails with `storage_full`.
   * Jobs that do not continue start only above the reserve.
   */
  whenDiskIsFull: "continue" | "postpone" | "fail";
  /**
   * Marks the subject as being processed. Returns false when it was deleted or has ended: the job then has nothing to
   * do.
   */
  begin(tx: Queries, context: SettleContext): Promise<boolean>;
  /** Reads the input of `run`. Returns null when the subject was deleted. */
  load(services: CoreNeeds & ConfigNeeds, job: Job): Promise<LoadedJob<Input> | null>;
  /**
   * Turns files into files and facts. It has no store, and resumes from the files of an earlier attempt in
   * `context.workDir`.
   */
  run(tools: MediaTools, input: Input, context: RunContext<Checkpoint>): Promise<Output>;
  /** Writes an intermediate result. Called only for the current attempt. Missing for jobs without checkpoints. */
  checkpoint?(tx: Queries, checkpoint: Checkpoint, context: SettleContext): Promise<void>;
  /** Reads files for a checkpoint before its transaction. Returns further work for the transaction. */
  readForCheckpoint?(
    services: CheckpointNeeds,
    checkpoint: Checkpoint,
    job: Job,
  ): Promise<(tx: Queries) => Promise<void>>;
  /** Reads and computes before the transaction of `settle`. Returns further work for it, after `settle`. */
  readForSettle?(services: CoreNeeds, output: Output, job: Job): Promise<(tx: Queries) => Promise<void>>;
  /** Writes the result. Called only for the current attempt, in the transaction that ends the step. */
  settle(tx: Queries, output: Output, context: SettleContext): Promise<void>;
  /** Marks the subject as failed, in the transaction that ends the step. */
  fail(tx: Queries, failure: JobFailure, context: SettleContext): Promise<void>;
  /** Removes files that are not needed after the job has ended. */
  cleanup(services: CheckpointNeeds, job: Job, end: JobEnd): Promise<void>;
};
