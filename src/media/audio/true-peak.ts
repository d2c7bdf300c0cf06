/** Estimates true peaks at four times the sample rate (ITU-R BS.1770-4, annex 2). */

/** Samples on each side of an interpolated one. */
export const TAPS = 8;
const PHASES = [0.25, 0.5, 0.75].map(createPhase);
/** Between two samples below this share of a level, no interpolated one exceeds it: 6 dB. */
export const PRUNED_SHARE = 0.5;

/** Returns the weights of the samples around a position between two of them: a sinc in a Hann window. */
function createPhase(offset: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * TAPS }, (_, n) => {
    const x = n - (TAPS - 1) - offset;
    return (Math.sin(Math.PI * x) / (Math.PI * x)) * (0.5 + 0.5 * Math.cos((Math.PI * x) / TAPS));
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/**
 * Returns the peak from the sample at `at` up to the next one of its channel, which is `channels` later. There are `TAPS` samples of the
 * channel after it and `TAPS` - 1 before it. Below `level`, the result may be too low.
 */
export function findTruePeak(samples: Float32Array, at: number, channels: number, level: number): number {
  const here = Math.abs(samples[at]!);
  let peak = here;
  if (Math.max(here, Math.abs(samples[at + channels]!)) <= level * PRUNED_SHARE) return peak;
  // Iterators would take as long as the sums.
  for (let phase = 0; phase < PHASES.length; phase++) {
    const weights = PHASES[phase]!;
    let sum = 0;
    for (let n = 0, from = at - (TAPS - 1) * channels; n < 2 * TAPS; n++, from += channels)
      sum += weights[n]! * samples[from]!;
    const found = Math.abs(sum);
    if (found > peak) peak = found;
  }
  return peak;
}
