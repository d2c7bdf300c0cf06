/**
 * Fetches a file in parts, several at a time, because a single connection waits for each response and each flush, and
 * gets only one window of a long link. Parts are written in order, so the file always is a prefix of the whole one.
 */
import { open } from "node:fs/promises";
import type { Semaphore } from "../lib/semaphore";

/** Reads the bytes from `from` up to `to`. */
export type ReadRange = (range: { from: number; to: number }, signal: AbortSignal) => AsyncIterable<Uint8Array>;

type ByteSpan = { from: number; to: number };

type FetchOptions = {
  read: ReadRange;
  /** Called before bytes are written. Throws if they do not fit on the disk. */
  claim(bytes: number): void;
  /** Limits the parts in memory. */
  permits: Semaphore;
  signal: AbortSignal;
};

const MAX_PARTS_AT_A_TIME = 4;

/** A part that is being fetched. Call `release` after writing it. */
type IncomingRange = ByteSpan & { bytes: Promise<Uint8Array>; release(): void };

/**
 * Writes the bytes of `span` to the file at `path`, and flushes each part. Errors: those of `read` and `claim`; a plain
 * `Error` if `read` returns another number of bytes; the signal's reason. The parts before the failed one are then in
 * the file.
 */
export async function fetchParts(
  path: string,
  { from, to, partBytes }: ByteSpan & { partBytes: number },
  { read, claim, permits, signal }: FetchOptions,
): Promise<void> {
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const buffers: Uint8Array[] = [];
  const parts: IncomingRange[] = [];
  let requested = from;

  function requestNext(): void {
    const span = { from: requested, to: Math.min(requested + partBytes, to) };
    requested = span.to;
    const fetched = Promise.withResolvers<Uint8Array>();
    const written = Promise.withResolvers<void>();
    // The error is rethrown when the part is awaited.
    fetched.promise.catch(() => {});
    void permits
      .run(stopped, async () => {
        const buffer = buffers.pop() ?? new Uint8Array(Math.min(partBytes, to - from));
        fetched.resolve(await readPart(buffer, span, read, stopped));
        await written.promise;
        buffers.push(buffer);
      })
      .catch(fetched.reject);
    parts.push({ ...span, bytes: fetched.promise, release: written.resolve });
  }

  const file = await open(path, "r+");
  try {
    while (requested < to || parts.length > 0) {
      signal.throwIfAborted();
      while (requested < to && parts.length < MAX_PARTS_AT_A_TIME) requestNext();
      const part = parts[0]!;
      const bytes = await part.bytes;
      claim(bytes.byteLength);
      const { bytesWritten } = await file.write(bytes, 0, bytes.byteLength, part.from);
      if (bytesWritten !== bytes.byteLength) throw createFullDiskError();
      await file.datasync();
      part.release();
      parts.shift();
    }
  } finally {
    stop.abort(new Error("The download has ended."));
    for (const part of parts) part.release();
    await Promise.allSettled(parts.map(({ bytes }) => bytes));
    await file.close();
  }
}

/** Reads a part into the beginning of the buffer, and returns the written portion. */
async function readPart(buffer: Uint8Array, span: ByteSpan, read: ReadRange, signal: AbortSignal): Promise<Uint8Array> {
  const length = span.to - span.from;
  let position = 0;
  for await (const bytes of read(span, signal)) {
    if (position + bytes.byteLength > length) throw new Error("The file is larger than announced.");
    buffer.set(bytes, position);
    position += bytes.byteLength;
  }
  if (position < length) throw new Error("The file is smaller than announced.");
  return buffer.subarray(0, length);
}

export const createFullDiskError = (): Error =>
  Object.assign(new Error("The worker's disk is full."), { code: "ENOSPC" });
