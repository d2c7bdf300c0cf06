/**
 * Peaks of the audio: parses the file format `OCW1`, and builds a pyramid, each level a quarter of the one before, to
 * draw them at any zoom. Pure.
 */

import { findGain, PEAKS_HEADER_BYTES, toHeight } from "../../../src/domain/peaks";

/**
 * `levels[0]` has `rate` peaks per second from 0 to 255. Each further level has the maximum of every four. `gain` is
 * that of `findGain`.
 */
export type Waveform = { rate: number; levels: readonly Uint8Array[]; gain: number };

const MAGIC = "OCW1";
const MAX_RATE = 1000;
/** Two days at 50 peaks per second. */
const MAX_PEAKS = 8_640_000;
const FACTOR = 4;

/** Parses the file. Throws `RangeError` if it is damaged. */
export function readWaveform(bytes: ArrayBuffer): Waveform {
  if (bytes.byteLength < PEAKS_HEADER_BYTES) throw new RangeError("Waveform file is shorter than its header.");
  const header = new DataView(bytes, 0, PEAKS_HEADER_BYTES);
  const magic = String.fromCharCode(...new Uint8Array(bytes, 0, MAGIC.length));
  if (magic !== MAGIC) throw new RangeError("Not a waveform file.");
  const rate = header.getUint32(4, true);
  const count = header.getUint32(8, true);
  if (rate === 0 || rate > MAX_RATE) throw new RangeError(`Waveform has ${rate} peaks per second.`);
  if (count > MAX_PEAKS) throw new RangeError(`Waveform has ${count} peaks, more than ${MAX_PEAKS}.`);
  if (bytes.byteLength !== PEAKS_HEADER_BYTES + count)
    throw new RangeError(`Waveform has ${bytes.byteLength - PEAKS_HEADER_BYTES} of ${count} peaks.`);
  const peaks = new Uint8Array(bytes, PEAKS_HEADER_BYTES);
  return { rate, levels: toPyramid(peaks), gain: findGain(peaks) };
}

function toPyramid(peaks: Uint8Array): Uint8Array[] {
  const levels = [peaks];
  for (let last = peaks; last.length > FACTOR; ) {
    const next = new Uint8Array(Math.ceil(last.length / FACTOR));
    for (let at = 0, index = 0; at < next.length; at++) {
      let peak = 0;
      for (const end = Math.min(last.length, index + FACTOR); index < end; index++)
        if (last[index]! > peak) peak = last[index]!;
      next[at] = peak;
    }
    levels.push(next);
    last = next;
  }
  return levels;
}

/**
 * Returns how high the largest peak in a range of microseconds is drawn, as a share of the full height. Outside of the
 * recording, it is 0.
 */
export function findPeak({ rate, levels, gain }: Waveform, start: number, end: number): number {
  let from = (start * rate) / 1e6;
  let to = (end * rate) / 1e6;
  let level = 0;
  while (level < levels.length - 1 && to - from > FACTOR * 2) {
    from /= FACTOR;
    to /= FACTOR;
    level++;
  }
  const peaks = levels[level]!;
  const last = Math.min(peaks.length, Math.max(Math.floor(from) + 1, Math.ceil(to)));
  let peak = 0;
  for (let index = Math.max(0, Math.floor(from)); index < last; index++) if (peaks[index]! > peak) peak = peaks[index]!;
  return toHeight(peak, gain);
}
