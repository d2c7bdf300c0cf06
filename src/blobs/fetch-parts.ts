/**
 * Fetches a file in parts, several at a time, because a single connection waits for each response and each flush, and
 * gets only one window of a long link. `fetchParts` writes them in order, so that the file always is a prefix of the
 * whole one. A partial blob has only the parts that were asked for.
 */
import { open } from "node:fs/promises";
import { writeAll } from "../lib/file-bytes";
import { createSemaphore, type Semaphore } from "../lib/semaphore";

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
      await writeAll(file, bytes, part.from);
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
  for await (const { bytes, position } of readSpan(span, read, signal)) buffer.set(bytes, position - span.from);
  return buffer.subarray(0, span.to - span.from);
}

/**
 * Yields the bytes of a span with their positions. Throws a plain `Error` when `read` returns another number of bytes.
 */
async function* readSpan({ from, to }: ByteSpan, read: ReadRange, signal: AbortSignal) {
  let position = from;
  for await (const bytes of read({ from, to }, signal)) {
    if (position + bytes.byteLength > to) throw new Error("The file is larger than announced.");
    yield { bytes, position };
    position += bytes.byteLength;
  }
  if (position < to) throw new Error("The file is smaller than announced.");
}

export const createFullDiskError = (): Error =>
  Object.assign(new Error("The worker's disk is full."), { code: "ENOSPC" });

/**
 * Creates a file of which only the parts that are read are fetched; the others are holes. `claim` is called before a
 * part is written; again (`isRepeated`) after an attempt that failed, whose room the part keeps.
 */
export async function createPartialBlob(
  path: string,
  { bytes, partBytes }: { bytes: number; partBytes: number },
  claim: (bytes: number, isRepeated: boolean) => void,
) {
  const created = await open(path, "w", 0o600);
  try {
    await created.truncate(bytes);
  } finally {
    await created.close();
  }
  const count = Math.ceil(bytes / partBytes);
  const present = new Set<number>();
  const claimed = new Set<number>();
  const running = new Map<number, Promise<void>>();
  const permits = createSemaphore(MAX_PARTS_AT_A_TIME);

  async function fetchPart(part: number, read: ReadRange, signal: AbortSignal): Promise<void> {
    while (!present.has(part)) {
      signal.throwIfAborted();
      const other = running.get(part);
      // If the caller that fetches it gives up, the next one takes over.
      if (other !== undefined) await other.catch(() => {});
      else await startPart(part, read, signal);
    }
  }

  function startPart(part: number, read: ReadRange, signal: AbortSignal): Promise<void> {
    const from = part * partBytes;
    const range = { from, to: Math.min(from + partBytes, bytes) };
    const written = permits
      .run(signal, () => {
        claim(range.to - range.from, claimed.has(part));
        claimed.add(part);
        return writePart(range, read, signal);
      })
      .then(() => void present.add(part))
      .finally(() => running.delete(part));
    running.set(part, written);
    return written;
  }

  async function writePart(range: ByteSpan, read: ReadRange, signal: AbortSignal): Promise<void> {
    const file = await open(path, "r+");
    try {
      for await (const { bytes, position } of readSpan(range, read, signal)) await writeAll(file, bytes, position);
    } finally {
      await file.close();
    }
  }

  return {
    path,
    /**
     * Fetches the parts from `first` to `last` that are missing, several at a time. Errors: those of `read` and
     * `claim`; a plain `Error` when `read` returns another number of bytes or there are no such parts; the signal's
     * reason.
     */
    fetch: async ({ first, last }: { first: number; last: number }, read: ReadRange, signal: AbortSignal) => {
      if (!(Number.isInteger(first) && Number.isInteger(last) && first >= 0 && first <= last && last < count))
        throw new Error("The file has no such parts.");
      const parts = Array.from({ length: last - first + 1 }, (_, n) => first + n).filter((part) => !present.has(part));
      const results = await Promise.allSettled(parts.map((part) => fetchPart(part, read, signal)));
      for (const result of results) if (result.status === "rejected") throw result.reason;
    },
  };
}

/** A file whose parts are fetched once for all callers. */
export type PartialBlob = Awaited<ReturnType<typeof createPartialBlob>>;
