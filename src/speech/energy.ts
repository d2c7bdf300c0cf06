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

/** Starts measuring a recording of about `expectedSamples`. */
export function createEnergyMeter(expectedSamples: number): EnergyMeter {
  let sums = new Float32Array(Math.ceil(expectedSamples / HOP_SAMPLES) + 1);
  let count = 0;
  return {
    add(samples) {
      const hops = Math.ceil((count + samples.length) / HOP_SAMPLES);
      if (hops > sums.length) {
        const larger = new Float32Array(hops * 2);
        larger.set(sums);
        sums = larger;
      }
      for (let i = 0; i < samples.length; i++) {
        const value = samples[i]!;
        sums[Math.floor(count++ / HOP_SAMPLES)]! += value * value;
      }
    },
    contour: () => toDecibels(sums, count),
  };
}

function toDecibels(sums: Float32Array, samples: number): EnergyContour {
  const hops = Math.ceil(samples / HOP_SAMPLES);
  const contour = new Float32Array(hops);
  for (let i = 0; i < hops; i++) {
    const from = Math.max(0, i - 1);
    const to = Math.min(hops, i + 2);
    let sum = 0;
    for (let k = from; k < to; k++) sum += sums[k]!;
    const counted = Math.min(samples, to * HOP_SAMPLES) - from * HOP_SAMPLES;
    const level = 10 * Math.log10(sum / counted + 10 ** (SILENCE_DB / 10));
    contour[i] = Math.round(level * ENERGY_STEPS_PER_DB) / ENERGY_STEPS_PER_DB;
  }
  return contour;
}

/** The value below which the given share of the values lies; `SILENCE_DB` when there are none. */
export function percentile(values: Float32Array, share: number): number {
  if (values.length === 0) return SILENCE_DB;
  const sorted = Float32Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** The level in dB that tells sound from silence within a stretch: a quarter of the way from its floor to its peaks. */
export function soundThreshold(energy: Float32Array): number {
  const floor = percentile(energy, 0.1);
  const peaks = percentile(energy, 0.95);
  return Math.max(floor + 0.25 * (peaks - floor), peaks - 40);
}

/** Loud parts of speech are brought to this level, in dB. */
const TARGET_DB = -22;
const MAX_GAIN = 300;

/** How much to amplify sound with this contour, so that whispers are heard; never less than 1. */
export function gainFor(energy: Float32Array): number {
  const peaks = percentile(energy, 0.95);
  return Math.min(MAX_GAIN, Math.max(1, 10 ** ((TARGET_DB - peaks) / 20)));
}
