/** Reads the content of a piece: bytes, and the samples of the preview that follow them. */
import { open } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import { readInto } from "../../lib/file-bytes";

/** A byte range of the preview or source. */
export type FileRange = { offset: number; length: number };
export type PiecePart = Uint8Array | FileRange;

/** Approximate size of chunks, unless a sample is larger. */
export const CHUNK_BYTES = 1024 ** 2;
/** Samples of the other track up to this size are also read, which is cheaper than another call. */
const MAX_GAP_BYTES = 64 * 1024;

const isInMemory = (part: PiecePart): part is Uint8Array => part instanceof Uint8Array;

/** Reads the parts in chunks, to save memory. Throws `AppError` `processing_failed` if the file is too short. */
export async function* readParts(media: string, parts: readonly PiecePart[]): AsyncGenerator<Uint8Array> {
  await using file = await open(media, "r");
  let chunk: Uint8Array[] = [];
  let bytes = 0;
  for (let next = 0; next < parts.length; ) {
    const end = findRunEnd(parts, next);
    const run = parts.slice(next, end);
    const found = isInMemory(run[0]!) ? (run as Uint8Array[]) : await readRun(file, run as FileRange[]);
    chunk.push(...found);
    bytes += found.reduce((sum, { length }) => sum + length, 0);
    next = end;
    if (bytes < CHUNK_BYTES && next < parts.length) continue;
    yield Buffer.concat(chunk);
    [chunk, bytes] = [[], 0];
  }
}

/** Returns the end, exclusive, of the parts starting with number `first` that are read at once. */
function findRunEnd(parts: readonly PiecePart[], first: number): number {
  const start = parts[first]!;
  if (isInMemory(start)) return first + 1;
  let position = start.offset + start.length;
  let end = first + 1;
  for (; end < parts.length; end++) {
    const part = parts[end]!;
    if (isInMemory(part)) break;
    const gap = part.offset - position;
    position = part.offset + part.length;
    if (gap < 0 || gap > MAX_GAP_BYTES || position - start.offset > CHUNK_BYTES) break;
  }
  return end;
}

async function readRun(file: Awaited<ReturnType<typeof open>>, run: readonly FileRange[]): Promise<Uint8Array[]> {
  const { offset: start } = run[0]!;
  const last = run.at(-1)!;
  const length = last.offset + last.length - start;
  const bytes = await readInto(file, new Uint8Array(length), start);
  if (bytes.length < length) throw new AppError("processing_failed", "The preview is damaged.");
  return run.map(({ offset, length }) => bytes.subarray(offset - start, offset - start + length));
}
