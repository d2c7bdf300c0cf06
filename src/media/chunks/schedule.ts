/** Has the chunks of a render encoded, at one place or at several, until all are done. */
import type { JobPlaces, Slot } from "../../domain/jobs";
import { type Chunk, type ChunkPlace, createChunkBoard } from "./board";

/** `list` has all places that can encode chunks, also those without a free slot. */
export type ChunkPlaces = Pick<JobPlaces, "request"> & { list(): ChunkPlace[] };

/** Control of one run of a chunk. `isDone`: another run of the chunk has completed it. */
export type ChunkControl = { signal: AbortSignal; progress(share: number): void; isDone(): boolean };

/** Meaning of an error of a run: the place is gone, the chunk has failed there, or the render fails. */
export type ChunkFailure = "lost" | "failed" | "final";

export type ScheduleOptions<C extends Chunk> = {
  chunks: readonly C[];
  /** Names of the chunks that are done already. */
  done: ReadonlySet<string>;
  places: ChunkPlaces;
  /** Expected of a place whose speed is unknown, in frames per second. */
  fallbackSpeed: number;
  run(chunk: C, placeId: string, control: ChunkControl): Promise<void>;
  /** Classifies an error. By default, every error ends the render. */
  judge?: (error: unknown, chunk: C, placeId: string) => ChunkFailure;
  signal?: AbortSignal | undefined;
  /** Polled before each chunk. When true, no other chunk starts. */
  shouldYield(): boolean;
  /** Receives the share of the frames that are done. */
  progress(share: number): void;
  /** Interval at which places and the request to yield are checked when nothing else happens. */
  tickMs?: number;
  /** Milliseconds on a monotonic clock. */
  clock?: () => number;
};

/**
 * Time without any place after which a render yields, so that another attempt plans it for the places available then.
 */
export const MAX_IDLE_MS = 30_000;
/** A chunk that was lost this often may itself be crashing the workers. */
const MAX_LOSSES = 5;
const TICK_MS = 1_000;

/**
 * Returns whether all chunks are done: false if it was asked to yield or has no places. No run is active when the
 * promise settles. Errors: the one that ended the render; the signal's reason.
 */
export async function scheduleChunks<C extends Chunk>(options: ScheduleOptions<C>): Promise<boolean> {
  const { places, judge = () => "final", clock = () => performance.now() } = options;
  const stopping = new AbortController();
  const stopped = options.signal === undefined ? stopping.signal : AbortSignal.any([options.signal, stopping.signal]);
  const board = createChunkBoard({ ...options, listPlaces: places.list, clock });
  const losses = new Map<C, number>();
  const active = new Set<Promise<void>>();
  const ended = Promise.withResolvers<void>();
  let isYielding = false;
  let lastPlaceAt = clock();

  const isOpen = () => !stopped.aborted && !isYielding;
  const poll = () => {
    isYielding ||= options.shouldYield();
  };

  function take(slot: Slot): void {
    if (isOpen()) poll();
    const chunk = isOpen() ? board.choose(slot.placeId) : null;
    if (chunk === null) {
      slot.release();
      return;
    }
    const running = run(chunk, slot.placeId)
      .catch((error) => {
        if (!stopped.aborted) stopping.abort(error);
      })
      .finally(() => {
        active.delete(running);
        slot.release();
        update();
      });
    active.add(running);
  }

  async function run(chunk: C, placeId: string): Promise<void> {
    const one = board.start(chunk, placeId);
    try {
      await options.run(chunk, placeId, {
        signal: AbortSignal.any([stopped, one.controller.signal]),
        progress: (share) => {
          one.share = Math.max(one.share, Math.min(1, share));
          options.progress(board.progress());
        },
        isDone: () => board.isDone(chunk),
      });
      board.complete(one);
      options.progress(board.progress());
    } catch (error) {
      if (stopped.aborted || board.isDone(chunk)) return board.lose(one);
      const failure = judge(error, chunk, placeId);
      if (failure === "final" || (failure === "failed" && board.fail(one))) throw error;
      if (failure === "failed") return;
      board.lose(one);
      losses.set(chunk, (losses.get(chunk) ?? 0) + 1);
      if (losses.get(chunk)! >= MAX_LOSSES) throw error;
    }
  }

  function update(): void {
    if (active.size > 0 || places.list().length > 0) lastPlaceAt = clock();
    else if (clock() - lastPlaceAt > MAX_IDLE_MS) isYielding = true;
    if (active.size === 0 && (board.isComplete() || !isOpen())) ended.resolve();
    else request.wake();
  }

  function tick(): void {
    poll();
    update();
  }

  options.progress(board.progress());
  const request = places.request((placeId) => isOpen() && board.choose(placeId) !== null, take);
  const ticking = setInterval(tick, options.tickMs ?? TICK_MS);
  stopped.addEventListener("abort", update, { once: true });
  try {
    update();
    await ended.promise;
  } finally {
    clearInterval(ticking);
    stopped.removeEventListener("abort", update);
    request.close();
  }
  stopped.throwIfAborted();
  return board.isComplete();
}
