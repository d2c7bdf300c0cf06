/** Measures the energy contour of audio, and derives levels from it: silence threshold and gain. */
import { ENERGY_STEPS_PER_DB, type EnergyContour } from "./speech";

/** Samples at 16 kHz in one hop of the contour (5 ms). */
export const HOP_SAMPLES = 80;
/** The level of digital silence, in dB. */
export const SILENCE_DB = -100;

/**
 * Creates a meter for about `expectedSamples`. Levels are computed as samples are added, which bounds each step.
 * `hopSamples`: at other rates, which may make it a fraction.
 */
export function createEnergyMeter(expectedSamples: number, hopSamples = HOP_SAMPLES) {
  /** Levels of the first `finished` hops, sums of squares of those after them. */
  let values = new Float32Array(Math.ceil(expectedSamples / hopSamples) + 1);
  let count = 0;
  let finished = 0;
  /** The sum of squares of the last finished hop. */
  let previous = 0;

  function finish(end: number, hops: number): void {
    for (; finished < end; finished++) {
      const from = Math.max(0, finished - 1);
      const to = Math.min(hops, finished + 2);
      const own = values[finished]!;
      const sum = previous + own + (to > finished + 1 ? values[finished + 1]! : 0);
      const counted = Math.min(count, to * hopSamples) - from * hopSamples;
      const level = 10 * Math.log10(sum / counted + 10 ** (SILENCE_DB / 10));
      values[finished] = Math.round(level * ENERGY_STEPS_PER_DB) / ENERGY_STEPS_PER_DB;
      previous = own;
    }
  }

  return {
    add(samples: Float32Array): void {
      const hops = Math.ceil((count + samples.length) / hopSamples);
      if (hops > values.length) {
        const larger = new Float32Array(hops * 2);
        larger.set(values);
        values = larger;
      }
      for (let i = 0; i < samples.length; i++) {
        const value = samples[i]!;
        values[Math.floor(count++ / hopSamples)]! += value * value;
      }
      const hopsSoFar = Math.floor(count / hopSamples);
      finish(hopsSoFar - 1, hopsSoFar);
    },
    /** Returns the contour of all added audio. Each value covers the 15 ms around its hop. */
    contour(): EnergyContour {
      const hops = Math.ceil(count / hopSamples);
      finish(hops, hops);
      return values.subarray(0, hops);
    },
  };
}

/** From this number of values on, selecting is faster than sorting. */
const MIN_SELECT_VALUES = 4_096;

/** Returns the percentile: the given share of the values is below it. Returns `SILENCE_DB` without values. */
export function computePercentile(values: Float32Array, share: number): number {
  if (values.length === 0) return SILENCE_DB;
  const rank = Math.min(values.length - 1, Math.floor(values.length * share));
  return values.length < MIN_SELECT_VALUES ? Float32Array.from(values).sort()[rank]! : selectRank(values, rank);
}

/**
 * Returns the value at `rank` in sorted order, in two passes over the values, because sorting the contour of half a day
 * would take seconds. The bits of each float are mapped so that they sort like the float, and are counted by their
 * upper half first; then, within the upper half that contains the rank, by their lower half.
 */
function selectRank(values: Float32Array, rank: number): number {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const upper = new Uint32Array(1 << 16);
  for (let i = 0; i < bits.length; i++) upper[toSortableBits(bits[i]!) >>> 16]!++;
  const [high, left] = findBucket(upper, rank);
  const lower = new Uint32Array(1 << 16);
  for (let i = 0; i < bits.length; i++) {
    const key = toSortableBits(bits[i]!);
    if (key >>> 16 === high) lower[key & 0xffff]!++;
  }
  const key = ((high << 16) | findBucket(lower, left)[0]) >>> 0;
  const found = new Uint32Array([key & 0x80000000 ? key ^ 0x80000000 : ~key]);
  return new Float32Array(found.buffer)[0]!;
}

const toSortableBits = (bits: number): number => (bits & 0x80000000 ? ~bits : bits | 0x80000000) >>> 0;

/** Returns the bucket that contains the item of this rank, and the rank within the bucket. */
function findBucket(counts: Uint32Array, rank: number): [bucket: number, left: number] {
  let left = rank;
  let bucket = 0;
  while (left >= counts[bucket]!) left -= counts[bucket++]!;
  return [bucket, left];
}

/** Returns the level in dB below which audio counts as silent: a quarter of the way from its floor to its peaks. */
export function computeSilenceThreshold(energy: Float32Array): number {
  const floor = computePercentile(energy, 0.1);
  const peaks = computePercentile(energy, 0.95);
  return Math.max(floor + 0.25 * (peaks - floor), peaks - 40);
}

/** Loud parts of speech are amplified to this level, in dB. */
const TARGET_DB = -22;
const MAX_GAIN = 300;

/** Returns the gain, at least 1, that brings audio to the level that recognizers expect, even for whispers. */
export function computeGain(energy: Float32Array): number {
  const peaks = computePercentile(energy, 0.95);
  return Math.min(MAX_GAIN, Math.max(1, 10 ** ((TARGET_DB - peaks) / 20)));
}
