/** Encodes the chunks of a render on this machine. An interrupted render resumes from those that it finished. */
import { join } from "node:path";
import { JobYielded } from "../../domain/jobs";
import type { Semaphore } from "../../lib/semaphore";
import type { Chunk } from "./board";
import { type ChunkPlaces, scheduleChunks } from "./schedule";

/** Target of `encode`, which writes the file completely or not at all. */
export type EncodeTarget = { path: string; signal: AbortSignal; onFrames(frames: number): void };

export type EncoderLimits = {
  /** Maximum number of chunks that are encoded at the same time. */
  maxProcesses: number;
  signal?: AbortSignal | undefined;
  /** Polled between two chunks. If true, the render ends with `JobYielded`, and a later call resumes it. */
  shouldYield?: (() => boolean) | undefined;
  /** Shared by all renders of this server. Without it, `maxProcesses` is the only bound. */
  encoderSemaphore?: Semaphore | undefined;
};

export type LocalOptions<C extends Chunk> = EncoderLimits & {
  /** Those with equal names are one file. */
  chunks: readonly C[];
  workDir: string;
  onFrames(frames: number): void;
  encode(chunk: C, target: EncodeTarget): Promise<void>;
};

/**
 * Encodes every chunk that is not in the work folder yet. Returns the files in the order of the chunks, and the number
 * of those that existed before. Errors: the first one of `encode`, which ends the others; the signal's reason;
 * `JobYielded` when asked to yield before the last chunk was started, but after the first.
 */
export async function encodeLocally<C extends Chunk>(
  options: LocalOptions<C>,
): Promise<{ paths: string[]; reused: number }> {
  const { chunks, workDir, maxProcesses, signal, shouldYield = () => false, encoderSemaphore } = options;
  const unique = [...new Map(chunks.map((chunk) => [chunk.name, chunk])).values()];
  const total = unique.reduce((sum, { frames }) => sum + frames, 0);
  const getPath = ({ name }: Chunk) => join(workDir, name);
  const found = await Promise.all(unique.map((chunk) => Bun.file(getPath(chunk)).exists()));
  const done = new Set(unique.filter((_, n) => found[n]).map(({ name }) => name));
  let hasStarted = false;
  const isComplete = await scheduleChunks({
    chunks: unique,
    done,
    places: createLocalPlaces(Math.max(1, maxProcesses)),
    fallbackSpeed: 1,
    signal,
    // Otherwise renders whose time slice is shorter than what they read first would yield to each other forever.
    shouldYield: () => hasStarted && shouldYield(),
    progress: (share) => options.onFrames(Math.round(share * total)),
    run: async (chunk, _, control) => {
      hasStarted = true;
      const onFrames = (frames: number) => control.progress(frames / chunk.frames);
      const encode = () => options.encode(chunk, { path: getPath(chunk), signal: control.signal, onFrames });
      await (encoderSemaphore?.run(control.signal, encode) ?? encode());
    },
  });
  if (!isComplete) throw new JobYielded();
  return { paths: chunks.map(getPath), reused: done.size };
}

function createLocalPlaces(slots: number): ChunkPlaces {
  const id = "local";
  let free = slots;
  return {
    list: () => [{ id, slots, free, framesPerSecond: null }],
    request: (wants, onSlot) => {
      let isOpen = true;
      const wake = () => {
        while (isOpen && free > 0 && wants(id)) {
          free--;
          onSlot({ placeId: id, release: () => free++ });
        }
      };
      return {
        wake,
        close: () => {
          isOpen = false;
        },
      };
    },
  };
}
