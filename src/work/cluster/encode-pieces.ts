/**
 * Encodes the pieces of a split render at several places, and checks the files of other machines, until all are in the
 * work folder.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../domain/errors";
import { ExecutionLost, JobAborted, type JobPlaces, JobYielded } from "../../domain/jobs";
import { isStorageFull } from "../../domain/storage-full";
import type { EncodingFacts } from "../../domain/worker-messages";
import type { ExecutionKind } from "../../domain/workers";
import type { Chunk } from "../../media/chunks/board";
import type { DecodedPart, ExpectedChunk } from "../../media/chunks/check";
import {
  type ChunkControl,
  type ChunkFailure,
  type ScheduleOptions,
  scheduleChunks,
} from "../../media/chunks/schedule";
import { type JobChild, openJobChild } from "../job-child/child";
import { toReaderOptions } from "../job-child/plan-child";
import { commitFile } from "../job-child/scratch";
import type { JobOutput } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import type { RenderInput } from "../jobs/render-run";
import type { ChunkInput, ChunkOutput, SplitPiece } from "../jobs/split-run";

/**
 * A place that can run pieces of renders. `pixelsPerSecond` of one slot, of the output; null when it has not been
 * measured.
 */
export type SplitPlace = {
  id: string;
  /** Whether the place is this machine, which is trusted and has all files. */
  isLocal: boolean;
  slots: number;
  free: number;
  encoding: EncodingFacts;
  pixelsPerSecond: number | null;
};

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
export type SplitExecutions = Pick<JobPlaces, "request"> & {
  /** Lists the places that can run pieces now, including those without a free slot. */
  listPlaces(): SplitPlace[];
  /**
   * Errors: those of the run; `ExecutionLost`, which says nothing about the piece; the signal's reason, after the
   * execution has ended here.
   */
  run<Output extends JobOutput>(placeId: string, call: PieceCall): Promise<Output>;
  /** Records a measured speed in pixels of the output per second. */
  recordSpeed(placeId: string, pixelsPerSecond: number): void;
};

/** A piece with the facts about its file. */
export type Piece = Chunk & { piece: SplitPiece; expected: ExpectedChunk; maxBytes: number };

type Scheduled = "clock" | "done" | "fallbackSpeed" | "progress" | "shouldYield" | "tickMs";

export type EncodeOptions = Pick<ScheduleOptions<Piece>, Scheduled> & {
  input: RenderInput;
  pieces: readonly Piece[];
  workDir: string;
  /** Number of pixels of a frame of the output. */
  pixels: number;
  /** Their places are those whose chunks fit together. */
  executions: SplitExecutions;
  /** Checks a file from another machine. Returns its problem; null if it is valid. */
  checkChunk: ChunkChecker["check"];
  signal: AbortSignal;
  log(event: string, fields: object): void;
};

/** The folder in the work folder that receives files before they are checked. */
export const INCOMING_FOLDER = "incoming";

/**
 * Encodes the pieces. Returns whether frames were replaced with their neighbors. All runs have ended when the promise
 * settles. Errors: that of the piece that failed for the third time; `AppError` `storage_full`; `JobYielded` when asked
 * to yield, or without places; the signal's reason.
 */
export async function encodePieces(options: EncodeOptions): Promise<{ repaired: boolean }> {
  const { executions, workDir, pixels, clock = () => performance.now(), log } = options;
  /** Places that have sent an invalid file. */
  const suspects = new Set<string>();
  let repaired = false;
  const findPlace = (placeId: string) => executions.listPlaces().find(({ id }) => id === placeId);

  async function run(piece: Piece, placeId: string, control: ChunkControl): Promise<void> {
    const outputDir = join(workDir, INCOMING_FOLDER, randomUUID());
    const startedMs = clock();
    try {
      await mkdir(outputDir, { recursive: true });
      const output = await execute(piece, placeId, outputDir, control);
      if (control.isDone()) return;
      await commitFile(join(outputDir, piece.name), join(workDir, piece.name));
      repaired ||= output.repaired === true;
      const seconds = (clock() - startedMs) / 1000;
      // A file of an earlier attempt took no time.
      if (piece.piece.kind === "video" && output.seconds !== 0 && seconds > 0)
        executions.recordSpeed(placeId, (piece.frames * pixels) / seconds);
      log("chunk.completed", { chunk: piece.name, place: placeId, frames: piece.frames, seconds: output.seconds });
    } finally {
      await rm(outputDir, { recursive: true, force: true });
    }
  }

  /** Runs a piece and checks its file. */
  async function execute(
    { name, maxBytes, expected, piece }: Piece,
    placeId: string,
    outputDir: string,
    { signal, progress }: ChunkControl,
  ): Promise<ChunkOutput> {
    const place = findPlace(placeId);
    const { blobs, duration } = options.input;
    const input: ChunkInput = { blobs, duration, piece, slots: place?.slots ?? 1 };
    const output = await executions.run<ChunkOutput>(placeId, {
      kind: "chunk",
      input,
      workFiles: [],
      outputDir,
      workDir: join(outputDir, "work"),
      outputs: [{ name, maxBytes }],
      signal,
      onProgress: progress,
    });
    if (place?.isLocal === true) return output;
    const decode = suspects.has(placeId) ? "all" : "sample";
    const problem = await options.checkChunk(join(outputDir, name), expected, { decode, signal });
    if (problem === null) return output;
    suspects.add(placeId);
    // When all places fail so, the render may still succeed at one.
    throw new AppError("processing_failed", problem);
  }

  function judge(error: unknown, { name: chunk }: Piece, place: string): ChunkFailure {
    const isLocal = findPlace(place)?.isLocal === true;
    const isLost = error instanceof ExecutionLost || error instanceof JobYielded;
    if (error instanceof JobAborted || (isLocal && isStorageFull(error))) return "final";
    const reason = error instanceof Error ? error.message : String(error);
    log(isLost ? "chunk.lost" : "chunk.failed", { chunk, place, reason });
    return isLost ? "lost" : "failed";
  }

  const isComplete = await scheduleChunks({
    ...options,
    chunks: options.pieces,
    places: {
      list: () =>
        executions.listPlaces().map(({ id, slots, free, pixelsPerSecond }) => ({
          id,
          slots,
          free,
          framesPerSecond: pixelsPerSecond === null ? null : pixelsPerSecond / pixels,
        })),
      request: executions.request,
    },
    run,
    judge,
  });
  if (!isComplete) throw new JobYielded();
  return { repaired };
}

/** Part of the file to decode. */
type CheckOptions = { decode: DecodedPart; signal: AbortSignal };

/** Creates a checker for the files in a folder. The first check starts its child; one that ended is replaced. */
export function createChunkChecker(tools: Pick<MediaTools, "ffmpeg" | "jobCommand" | "sandbox">, folder: string) {
  let child: JobChild | null = null;

  const open = (): JobChild => openJobChild(toReaderOptions(tools, [folder]));

  /** Returns the problem of a file in the folder; null if it is valid. Errors: the signal's reason. */
  async function check(path: string, expected: ExpectedChunk, { decode, signal }: CheckOptions) {
    const run = (at: JobChild) => at.run("checkChunk", { ffmpeg: tools.ffmpeg, path, expected, decode }, { signal });
    child ??= open();
    const used = child;
    try {
      return await run(used);
    } catch {
      signal.throwIfAborted();
      if (child === used) child = null;
      await used.end();
    }
    // Another file may have brought the child to its limits, or down: this one is checked again on its own.
    await using own = open();
    try {
      return await run(own);
    } catch (error) {
      signal.throwIfAborted();
      return `The check failed: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  return {
    check,
    [Symbol.asyncDispose]: async () => {
      await child?.end();
    },
  };
}

type ChunkChecker = ReturnType<typeof createChunkChecker>;
