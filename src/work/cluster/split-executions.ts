/** The parts of places that a split render uses for its pieces. */
import type { EncodingFacts, ExecutionKind } from "../../domain/workers";
import type { JobOutput } from "../jobs/definition";

/** A place that can run pieces of renders. `pixelsPerSecond` of one slot, of the output; null when it has not been measured. */
export type SplitPlace = {
  id: string;
  /** Whether the place is this machine, which is trusted and has all files. */
  isLocal: boolean;
  slots: number;
  free: number;
  encoding: EncodingFacts;
  pixelsPerSecond: number | null;
};

/** A slot that the render holds. */
export type SplitSlot = { placeId: string; release(): void };

/** One execution. Inputs are the source and its probe result, and files of the render's work folder. */
export type PieceCall = {
  kind: Extract<ExecutionKind, "split" | "chunk" | "join">;
  /** Plain JSON, the input of the kind's `run`. */
  input: object;
  /** Names of files in the render's work folder that the execution needs. */
  workFiles: string[];
  /** Receives the output files, which are complete when the call resolves. */
  outputDir: string;
  /** The work folder when the execution runs on this machine. */
  workDir: string;
  /** The names that its output files may have, and their maximum size. */
  outputs: { name: string; maxBytes: number }[];
  signal: AbortSignal;
  onProgress(share: number): void;
};

/** The places of a render. */
export type SplitExecutions = {
  /** Lists the places that can run pieces now, including those without a free slot. */
  listPlaces(): SplitPlace[];
  /**
   * Waits in the fair order of workspaces for a slot at a place that `accepts` returns true for. `accepts` is asked again when slots or places
   * change, and at least every second. Errors: the signal's reason.
   */
  acquire(accepts: (placeId: string) => boolean, signal: AbortSignal): Promise<SplitSlot>;
  /** Errors: those of the run; one that `isLost` returns true for; the signal's reason when aborted, after the execution has ended here. */
  run<Output extends JobOutput>(slot: SplitSlot, call: PieceCall): Promise<Output>;
  /** Whether the error means that the place is gone, and says nothing about the piece. */
  isLost(error: unknown): boolean;
  /** Records a measured speed in pixels of the output per second. */
  recordSpeed(placeId: string, pixelsPerSecond: number): void;
};
