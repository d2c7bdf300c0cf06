/**
 * The index file of a preview: a record of 16 bytes for each sample of its tracks. A part of a long preview is found
 * with a few small reads, without keeping any of the file in memory.
 */
import type { FileHandle } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import { readInto } from "../../lib/file-bytes";

/** `time` is the presentation time in units of the track's timescale. Samples are sorted by time. */
export type Sample = { offset: number; size: number; time: number; isKey: boolean };

export const RECORD_BYTES = 16;
const KEY_FLAG = 0x8000_0000;
const MAX_SAMPLE_BYTES = 8 * 1024 ** 2;
/** Makes the times of samples before the start of the recording positive. */
const TIME_BIAS = 2 ** 40;
const TWO_32 = 2 ** 32;
const RECORDS_PER_READ = 256;

/** Writes a record: 48 bits of offset, 48 bits of time, 32 bits of size and key flag. */
export function writeRecord(view: DataView, at: number, { offset, size, time, isKey }: Sample): void {
  if (size > MAX_SAMPLE_BYTES) throw new AppError("processing_failed", "A sample of the preview is too large.");
  const biased = time + TIME_BIAS;
  view.setUint32(at, offset % TWO_32);
  view.setUint16(at + 4, Math.floor(offset / TWO_32));
  view.setUint16(at + 6, Math.floor(biased / TWO_32));
  view.setUint32(at + 8, biased % TWO_32);
  view.setUint32(at + 12, size + (isKey ? KEY_FLAG : 0));
}

const readRecord = (view: DataView, at: number): Sample => {
  const sizeAndKey = view.getUint32(at + 12);
  return {
    offset: view.getUint16(at + 4) * TWO_32 + view.getUint32(at),
    time: view.getUint16(at + 6) * TWO_32 + view.getUint32(at + 8) - TIME_BIAS,
    size: sizeAndKey % KEY_FLAG,
    isKey: sizeAndKey >= KEY_FLAG,
  };
};

export function openSampleTable(file: FileHandle, track: { firstRecord: number; sampleCount: number }) {
  const { firstRecord, sampleCount: count } = track;

  /** Reads samples `from` to `to`, exclusive. Throws `AppError` `processing_failed` when the file is too short. */
  async function read(from: number, to: number): Promise<Sample[]> {
    const bytes = new Uint8Array(Math.max(0, to - from) * RECORD_BYTES);
    const found = await readInto(file, bytes, (firstRecord + from) * RECORD_BYTES);
    if (found.length < bytes.length) throw new AppError("processing_failed", "The index of the preview is damaged.");
    const view = new DataView(bytes.buffer);
    return Array.from({ length: to - from }, (_, n) => readRecord(view, n * RECORD_BYTES));
  }

  /**
   * Returns the last sample at or before the time, or 0. Frames are nearly equidistant, so the first guess is close.
   */
  async function findLast(time: number): Promise<number> {
    let low = 0;
    let high = count;
    let [first, last] = await Promise.all([read(0, 1), read(count - 1, count)]).then((ends) =>
      ends.map(([s]) => s!.time),
    );
    while (high - low > RECORDS_PER_READ) {
      const share = (time - first!) / Math.max(1, last! - first!);
      const guess = low + Math.round(Math.min(1, Math.max(0, share)) * (high - low)) - RECORDS_PER_READ / 2;
      const from = Math.min(Math.max(guess, low), high - RECORDS_PER_READ);
      const block = await read(from, from + RECORDS_PER_READ);
      const [start, end] = [block[0]!.time, block.at(-1)!.time];
      if (time < start) [high, last] = [from, start];
      else if (time >= end) [low, first] = [from + RECORDS_PER_READ - 1, end];
      else [low, high] = [from, from + RECORDS_PER_READ];
      // Falls back to bisection, for arbitrary times.
      const middle = Math.floor((low + high) / 2);
      const [at] = high - low > RECORDS_PER_READ ? await read(middle, middle + 1) : [];
      if (at && at.time <= time) [low, first] = [middle, at.time];
      else if (at) [high, last] = [middle, at.time];
    }
    const block = await read(low, high);
    const after = block.findIndex((sample) => sample.time > time);
    return Math.max(0, low + (after < 0 ? block.length : after) - 1);
  }

  /** Returns the last key sample at or before sample `n`, or 0. */
  async function findKeyBefore(n: number): Promise<number> {
    for (let to = n + 1; to > 0; to -= RECORDS_PER_READ) {
      const from = Math.max(0, to - RECORDS_PER_READ);
      const at = (await read(from, to)).findLastIndex((sample) => sample.isKey);
      if (at >= 0) return from + at;
    }
    return 0;
  }

  /** Returns the first key sample after sample `n`, or the number of samples. */
  async function findKeyAfter(n: number): Promise<number> {
    for (let from = n + 1; from < count; from += RECORDS_PER_READ) {
      const at = (await read(from, Math.min(count, from + RECORDS_PER_READ))).findIndex((sample) => sample.isKey);
      if (at >= 0) return from + at;
    }
    return count;
  }

  return { count, read, findLast, findKeyBefore, findKeyAfter };
}

export type SampleTable = ReturnType<typeof openSampleTable>;
