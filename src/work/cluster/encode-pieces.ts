/** Encodes the pieces of a split render at several places, until all files are in the work folder. */
import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../domain/errors";
import { JobAborted, JobYielded } from "../../domain/jobs";
import type { ExpectedChunk } from "../../media/chunks/check";
import { commitFile } from "../job-child/scratch";
import type { RenderInput } from "../jobs/render-run";
import type { ChunkInput, ChunkOutput, SplitPiece } from "../jobs/split-run";
import { type BoardPiece, createChunkBoard, type PieceRun } from "./chunk-board";
import type { ChunkChecker } from "./chunk-check";
import type { SplitExecutions, SplitPlace, SplitSlot } from "./split-executions";

/** A piece with the facts about its file. */
export type Piece = BoardPiece & { piece: SplitPiece; expected: ExpectedChunk; maxBytes: number };

export type EncodeOptions = {
  input: RenderInput;
  pieces: readonly Piece[];
  /** Names of the pieces whose files are in the work folder. */
  done: ReadonlySet<string>;
  workDir: string;
  /** Of a frame of the output. */
  pixels: number;
  /** Expected of a place whose speed is unknown, in frames per second. */
  fallbackSpeed: number;
  executions: Omit<SplitExecutions, "listPlaces">;
  /** Lists the places whose chunks fit together. */
  listPlaces(): SplitPlace[];
  /** Checks a file from another machine. Returns its problem; null if it is valid. */
  checkChunk: ChunkChecker["check"];
  signal: AbortSignal;
  shouldYield(): boolean;
  /** Receives the share of the frames that are done. */
  progress(share: number): void;
  log(event: string, fields: object): void;
  /** How often places and the request to yield are looked at when nothing else happens. */
  tickMs: number;
  /** Milliseconds on a monotonic clock. */
  clock(): number;
};

/** The folder in the work folder that receives files before they are checked. */
export const INCOMING_FOLDER = "incoming";
/** Without any place for this long, the render yields, so that another attempt plans it for the places that there are then. */
export const MAX_IDLE_MS = 30_000;
/** A piece that was lost this often with its place may crash places. */
const MAX_LOSSES = 5;
/** The time that a worker reports for a chunk is at least this share of the time that was measured here. */
const MIN_REPORTED_SHARE = 0.2;

/**
 * Encodes the pieces. Returns whether frames were replaced with their neighbors. All runs have ended when the promise
 * settles. Errors: that of the piece that failed for the third time; `AppError` `storage_full`; `JobYielded` when asked
 * to yield, or without places; the signal's reason.
 */
export async function encodePieces(options: EncodeOptions): Promise<{ repaired: boolean }> {
  const { executions, workDir, pixels, signal, clock, log } = options;
  const stopping = new AbortController();
  const stopped = AbortSignal.any([signal, stopping.signal]);
  const listPlaces = () =>
    options.listPlaces().map((place) => ({
      id: place.id,
      slots: place.slots,
      free: place.free,
      framesPerSecond: place.pixelsPerSecond === null ? null : place.pixelsPerSecond / pixels,
    }));
  const board = createChunkBoard({ ...options, listPlaces });
  const byName = new Map(options.pieces.map((piece) => [piece.name, piece]));
  const losses = new Map<string, number>();
  /** Places that have sent an invalid file. */
  const suspects = new Set<string>();
  const active = new Set<Promise<void>>();
  const acquiring = new Set<AbortController>();
  const ended = Promise.withResolvers<void>();
  let isYielding = false;
  let repaired = false;
  let lastPlaceAt = clock();

  const report = () => options.progress(board.progress());

  /** Returns how many slots are useful now. */
  function countWanted(): number {
    if (stopped.aborted || isYielding) return 0;
    const places = listPlaces();
    if (places.length > 0 || board.running().length > 0) lastPlaceAt = clock();
    else if (clock() - lastPlaceAt > MAX_IDLE_MS) isYielding = true;
    if (board.waiting() > 0) return Math.min(board.waiting(), Math.max(1, sumSlots(places)));
    return places.some(({ id }) => board.choose(id) !== null) ? 1 : 0;
  }

  function pump(): void {
    isYielding ||= !stopped.aborted && options.shouldYield();
    const wanted = countWanted();
    for (const controller of [...acquiring].slice(wanted)) controller.abort(new Error("no longer of use"));
    for (let n = acquiring.size; n < wanted; n++) track(acquireSlot());
    if (active.size === 0 && (board.isComplete() || isYielding || stopped.aborted)) ended.resolve();
  }

  function track(work: Promise<void>): void {
    const tracked = work.catch(stop).finally(() => {
      active.delete(tracked);
      pump();
    });
    active.add(tracked);
  }

  /** Ends the render with this error, unless it ends with another one already. */
  function stop(error: unknown): void {
    if (!stopped.aborted) stopping.abort(error);
  }

  async function acquireSlot(): Promise<void> {
    const controller = new AbortController();
    acquiring.add(controller);
    let slot: SplitSlot;
    try {
      const isOfUse = (id: string) => board.choose(id) !== null;
      slot = await executions.acquire(isOfUse, AbortSignal.any([stopped, controller.signal]));
    } catch (error) {
      if (stopped.aborted || controller.signal.aborted) return;
      // Workers that drain or are cut off from Redis get nothing new, and complete what they run.
      if (executions.isLost(error) && board.running().length > 0) return;
      throw error;
    } finally {
      acquiring.delete(controller);
    }
    try {
      isYielding ||= options.shouldYield();
      const chosen = stopped.aborted || isYielding ? null : board.choose(slot.placeId);
      if (chosen !== null) await runPiece(slot, byName.get(chosen.name)!);
    } finally {
      slot.release();
    }
  }

  async function runPiece(slot: SplitSlot, piece: Piece): Promise<void> {
    const run = board.start(piece, slot.placeId);
    const outputDir = join(workDir, INCOMING_FOLDER, randomUUID());
    try {
      const output = await execute(slot, piece, run, outputDir);
      if (!board.complete(run)) return;
      repaired ||= output.repaired === true;
      recordSpeed(run, output.seconds);
      log("chunk.completed", { chunk: piece.name, place: slot.placeId, frames: piece.frames, seconds: output.seconds });
      report();
    } catch (error) {
      handleFailure(run, error);
    } finally {
      await rm(outputDir, { recursive: true, force: true });
    }
  }

  /** Runs a piece, checks its file and moves it to the work folder. */
  async function execute(slot: SplitSlot, piece: Piece, run: PieceRun, outputDir: string): Promise<ChunkOutput> {
    const { name, maxBytes, expected } = piece;
    const place = options.listPlaces().find(({ id }) => id === slot.placeId);
    const runSignal = AbortSignal.any([stopped, run.controller.signal]);
    const { blobs, duration } = options.input;
    const input: ChunkInput = { blobs, duration, piece: piece.piece, slots: place?.slots ?? 1 };
    await mkdir(outputDir, { recursive: true });
    const output = await executions.run<ChunkOutput>(slot, {
      kind: "chunk",
      input,
      workFiles: [],
      outputDir,
      workDir: join(outputDir, "work"),
      outputs: [{ name, maxBytes }],
      signal: runSignal,
      onProgress: (share) => {
        run.share = Math.max(run.share, Math.min(1, share));
        report();
      },
    });
    const path = join(outputDir, name);
    if (place?.isLocal !== true) {
      const decode = suspects.has(slot.placeId) ? "all" : "sample";
      const problem = await options.checkChunk(path, expected, { decode, signal: runSignal });
      if (problem !== null) {
        suspects.add(slot.placeId);
        throw new WrongChunkError(problem);
      }
    }
    if (!board.isDone(piece)) await commitFile(path, join(workDir, name));
    return output;
  }

  function recordSpeed({ piece, place, startedMs }: PieceRun, reported: unknown): void {
    if (byName.get(piece.name)!.piece.kind === "audio") return;
    const measured = (clock() - startedMs) / 1000;
    const seconds = typeof reported === "number" ? Math.min(measured, reported) : measured;
    const bounded = Math.max(seconds, measured * MIN_REPORTED_SHARE);
    // A file of an earlier attempt took no time.
    if (bounded > 0 && reported !== 0) executions.recordSpeed(place, (piece.frames * pixels) / bounded);
  }

  function handleFailure(run: PieceRun, error: unknown): void {
    const { piece, place } = run;
    const isLocal = options.listPlaces().some(({ id, isLocal }) => id === place && isLocal);
    const isLost = executions.isLost(error) || error instanceof JobYielded;
    const reason = error instanceof Error ? error.message : String(error);
    if (stopped.aborted || board.isDone(piece)) board.lose(run);
    else if (error instanceof JobAborted || (isLocal && isStorageFull(error))) stop(error);
    else if (isLost) {
      log("chunk.lost", { chunk: piece.name, place, reason });
      board.lose(run);
      if (countLoss(piece.name) >= MAX_LOSSES) stop(error);
    } else {
      log("chunk.failed", { chunk: piece.name, place, reason });
      if (board.fail(run)) stop(error);
    }
  }

  function countLoss(name: string): number {
    const count = (losses.get(name) ?? 0) + 1;
    losses.set(name, count);
    return count;
  }

  const ticking = setInterval(pump, options.tickMs);
  signal.addEventListener("abort", pump, { once: true });
  try {
    report();
    pump();
    await ended.promise;
  } finally {
    clearInterval(ticking);
    signal.removeEventListener("abort", pump);
  }
  stopped.throwIfAborted();
  if (!board.isComplete()) throw new JobYielded();
  return { repaired };
}

/** The file that a place has sent is not the chunk. When all places fail so, the render may still succeed at one. */
class WrongChunkError extends AppError {
  constructor(problem: string) {
    super("processing_failed", problem);
  }
}

const isStorageFull = (error: unknown): boolean => error instanceof AppError && error.code === "storage_full";

const sumSlots = (places: readonly { slots: number }[]): number => places.reduce((sum, { slots }) => sum + slots, 0);
