/** Predicts how loud a recording is behind a limiter, from its energy and peaks in steps of 10 ms. Pure. */
import { type Loudness, type LoudnessSteps, measureSteps, STEPS_PER_SECOND } from "./loudness";

export const FINE_STEPS_PER_SECOND = 100;
const FINE_STEPS = FINE_STEPS_PER_SECOND / STEPS_PER_SECOND;

/** Two factors, and the seconds in which the reduction ends to about two thirds. */
export type LimiterModel = { gain: number; ceiling: number; release: number };

/** Returns the loudness of fine steps at a gain. `limiter` null: as they are. */
export function predictLoudness(fine: LoudnessSteps, limiter: LimiterModel | null): Loudness {
  return measureSteps(joinSteps(fine, limiter === null ? null : findFactors(fine.peaks, limiter)));
}

/**
 * Returns steps of 100 ms. The last one may be shorter, and has the energy of a whole one. `factors` null: 1 for all
 * fine steps.
 */
function joinSteps({ energies, peaks }: LoudnessSteps, factors: Float32Array | null): LoudnessSteps {
  const count = Math.ceil(energies.length / FINE_STEPS);
  const joined: LoudnessSteps = { energies: new Float32Array(count), peaks: new Float32Array(count) };
  for (let n = 0; n < count; n++) {
    const to = Math.min(energies.length, (n + 1) * FINE_STEPS);
    let sum = 0;
    let peak = 0;
    for (let k = n * FINE_STEPS; k < to; k++) {
      const factor = factors === null ? 1 : factors[k]!;
      sum += energies[k]! * factor * factor;
      peak = Math.max(peak, peaks[k]! * factor);
    }
    joined.energies[n] = sum / (to - n * FINE_STEPS);
    joined.peaks[n] = peak;
  }
  return joined;
}

/** Applies the limiter to halves of fine steps. The peak of a step is taken to be in both of its halves. */
function findFactors(peaks: Float32Array, { gain, ceiling, release }: LimiterModel): Float32Array {
  const returned = 1 - Math.exp(-1 / (2 * FINE_STEPS_PER_SECOND * release));
  const factors = new Float32Array(peaks.length);
  const reduce = (from: number, need: number): number => (need < from ? need : from + (need - from) * returned);
  let here = findNeed(peaks[0] ?? 0, gain, ceiling);
  let reduction = here;
  for (let step = 0; step < peaks.length; step++) {
    const next = step + 1 < peaks.length ? findNeed(peaks[step + 1]!, gain, ceiling) : 1;
    const middle = reduce(reduction, here);
    const end = reduce(middle, Math.min(here, next));
    factors[step] = (gain * (reduction + 2 * middle + end)) / 4;
    reduction = end;
    here = next;
  }
  return factors;
}

/** Returns the factor with which a peak does not exceed the ceiling. */
const findNeed = (peak: number, gain: number, ceiling: number): number =>
  gain * peak > ceiling ? ceiling / (gain * peak) : 1;
