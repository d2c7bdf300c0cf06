/** Predicts how loud a recording is behind a limiter, from its energy and peaks in steps of 10 ms. Pure. */
import { type Loudness, type LoudnessSteps, measureSteps, STEPS_PER_SECOND } from "./loudness";

export const FINE_STEPS_PER_SECOND = 100;
const FINE_STEPS = FINE_STEPS_PER_SECOND / STEPS_PER_SECOND;

/** Two factors, and the seconds in which the reduction ends to about two thirds. */
export type LimiterModel = { gain: number; ceiling: number; release: number };

/** Returns the loudness of fine steps at a gain. `limiter` null: as they are. */
export function predictLoudness(fine: LoudnessSteps, limiter: LimiterModel | null): Loudness {
  return measureSteps(limiter === null ? joinSteps(fine) : limitSteps(fine, limiter));
}

/** Returns steps of 100 ms. The last one may be shorter, and has the energy of a whole one. */
function joinSteps({ energies, peaks }: LoudnessSteps, factorAt: (step: number) => number = () => 1): LoudnessSteps {
  const count = Math.ceil(energies.length / FINE_STEPS);
  const joined: LoudnessSteps = { energies: new Float32Array(count), peaks: new Float32Array(count) };
  for (let n = 0; n < count; n++) {
    const to = Math.min(energies.length, (n + 1) * FINE_STEPS);
    let [sum, peak] = [0, 0];
    for (let k = n * FINE_STEPS; k < to; k++) {
      const factor = factorAt(k);
      sum += energies[k]! * factor ** 2;
      peak = Math.max(peak, peaks[k]! * factor);
    }
    joined.energies[n] = sum / (to - n * FINE_STEPS);
    joined.peaks[n] = peak;
  }
  return joined;
}

/** Applies the limiter to halves of fine steps. The peak of a step is taken to be in both of its halves. */
function limitSteps(fine: LoudnessSteps, { gain, ceiling, release }: LimiterModel): LoudnessSteps {
  const returned = 1 - Math.exp(-1 / (2 * FINE_STEPS_PER_SECOND * release));
  const findNeed = (step: number) => Math.min(1, ceiling / (gain * (fine.peaks[step] ?? 0)));
  let reduction = findNeed(0);
  const reduce = (need: number): number => {
    const before = reduction;
    reduction = need < reduction ? need : reduction + (need - reduction) * returned;
    return (before + reduction) / 2;
  };
  return joinSteps(fine, (step) => {
    const here = findNeed(step);
    const first = reduce(here);
    return (gain * (first + reduce(Math.min(here, findNeed(step + 1))))) / 2;
  });
}
