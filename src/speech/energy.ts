/** Loudness over time, and the level that tells sound from silence in it. */
import { ENERGY_STEPS_PER_DB, type EnergyContour } from "../domain/speech";

/** Samples of 16 kHz in the contour's 5 ms. */
export const HOP_SAMPLES = 80;
/** What digital silence measures, in dB. */
export const SILENCE_DB = -100;

/** Takes a recording piece by piece, in order. */
export type EnergyMeter = {
  add(samples: Float32Array): void;
  /** The contour of all that was added: each value over the 15 ms around its 5 ms. */
  contour(): EnergyContour;
};

/** Starts measuring a recording of about `expectedSamples`. Levels are computed as samples come, so that no step takes long. */
export function createEnergyMeter(expectedSamples: number): EnergyMeter {
  /** Levels of the first `finished` hops, sums of squares of those after them. */
  let values = new Float32Array(Math.ceil(expectedSamples / HOP_SAMPLES) + 1);
  let count = 0;
  let finished = 0;
  /** The sum of the last finished hop. */
  let before = 0;

  function finish(end: number, hops: number): void {
    for (; finished < end; finished++) {
      const from = Math.max(0, finished - 1);
      const to = Math.min(hops, finished + 2);
      const own = values[finished]!;
      const sum = before + own + (to > finished + 1 ? values[finished + 1]! : 0);
      const counted = Math.min(count, to * HOP_SAMPLES) - from * HOP_SAMPLES;
      const level = 10 * Math.log10(sum / counted + 10 ** (SILENCE_DB / 10));
      values[finished] = Math.round(level * ENERGY_STEPS_PER_DB) / ENERGY_STEPS_PER_DB;
      before = own;
    }
  }

  return {
    add(samples) {
      const hops = Math.ceil((count + samples.length) / HOP_SAMPLES);
      if (hops > values.length) {
        const larger = new Float32Array(hops * 2);
        larger.set(values);
        values = larger;
      }
      for (let i = 0; i < samples.length; i++) {
        const value = samples[i]!;
        values[Math.floor(count++ / HOP_SAMPLES)]! += value * value;
      }
      const whole = Math.floor(count / HOP_SAMPLES);
      finish(whole - 1, whole);
    },
    contour() {
      const hops = Math.ceil(count / HOP_SAMPLES);
      finish(hops, hops);
      return values.subarray(0, hops);
    },
  };
}

/** Above this, selecting is faster than sorting. */
const MIN_SELECT_VALUES = 4_096;

/** The value below which the given share of the values lies; `SILENCE_DB` when there are none. */
export function computePercentile(values: Float32Array, share: number): number {
  if (values.length === 0) return SILENCE_DB;
  const rank = Math.min(values.length - 1, Math.floor(values.length * share));
  return values.length < MIN_SELECT_VALUES ? Float32Array.from(values).sort()[rank]! : selectRank(values, rank);
}

/**
 * Returns what stands at `rank` once the values are sorted, in two passes over them: half a day of contour would take seconds to sort.
 * A float's bits, mapped so that they sort like the float, are counted by their upper half, then those of the right upper half by their lower.
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

/** The bucket in which the item of this rank is, and its rank there. */
function findBucket(counts: Uint32Array, rank: number): [bucket: number, left: number] {
  let left = rank;
  let bucket = 0;
  while (left >= counts[bucket]!) left -= counts[bucket++]!;
  return [bucket, left];
}

/** The level in dB that tells sound from silence within a stretch: a quarter of the way from its floor to its peaks. */
export function computeSilenceThreshold(energy: Float32Array): number {
  const floor = computePercentile(energy, 0.1);
  const peaks = computePercentile(energy, 0.95);
  return Math.max(floor + 0.25 * (peaks - floor), peaks - 40);
}

/** Loud parts of speech are brought to this level, in dB. */
const TARGET_DB = -22;
const MAX_GAIN = 300;

/** How much to amplify sound with this contour, so that whispers are heard; never less than 1. */
export function computeGain(energy: Float32Array): number {
  const peaks = computePercentile(energy, 0.95);
  return Math.min(MAX_GAIN, Math.max(1, 10 ** ((TARGET_DB - peaks) / 20)));
}
