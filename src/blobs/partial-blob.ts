/** A file of the head of which a worker fetches only the parts that it reads. The others are holes. */
import { open } from "node:fs/promises";
import { createSemaphore } from "../lib/semaphore";
import { createFullDiskError, type ReadRange } from "./fetch-parts";

/** A file whose parts are fetched once for all callers. */
export type PartialBlob = {
  path: string;
  /**
   * Fetches the parts from `first` to `last` that are missing, several at a time. Errors: those of `read` and `claim`; a plain `Error` when `read`
   * returns another number of bytes or there are no such parts; the signal's reason.
   */
  fetch(range: { first: number; last: number }, read: ReadRange, signal: AbortSignal): Promise<void>;
};

const MAX_PARTS_AT_A_TIME = 4;

/** Creates the file. `claim` is called before a part is written; again (`isRepeated`) after an attempt that failed, whose room the part keeps. */
export async function createPartialBlob(
  path: string,
  { bytes, partBytes }: { bytes: number; partBytes: number },
  claim: (bytes: number, isRepeated: boolean) => void,
): Promise<PartialBlob> {
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
        return writePart(path, range, read, signal);
      })
      .then(() => void present.add(part))
      .finally(() => running.delete(part));
    running.set(part, written);
    return written;
  }

  return {
    path,
    fetch: async ({ first, last }, read, signal) => {
      if (!(Number.isInteger(first) && Number.isInteger(last) && first >= 0 && first <= last && last < count))
        throw new Error("The file has no such parts.");
      const parts = Array.from({ length: last - first + 1 }, (_, n) => first + n).filter((part) => !present.has(part));
      const results = await Promise.allSettled(parts.map((part) => fetchPart(part, read, signal)));
      for (const result of results) if (result.status === "rejected") throw result.reason;
    },
  };
}

async function writePart(
  path: string,
  { from, to }: { from: number; to: number },
  read: ReadRange,
  signal: AbortSignal,
): Promise<void> {
  const file = await open(path, "r+");
  try {
    let position = from;
    for await (const bytes of read({ from, to }, signal)) {
      if (position + bytes.byteLength > to) throw new Error("The file is larger than announced.");
      const { bytesWritten } = await file.write(bytes, 0, bytes.byteLength, position);
      if (bytesWritten !== bytes.byteLength) throw createFullDiskError();
      position += bytes.byteLength;
    }
    if (position < to) throw new Error("The file is smaller than announced.");
  } finally {
    await file.close();
  }
}
