/** Estimates true peaks at four times the sample rate (ITU-R BS.1770-4, annex 2). */

/**
 * `taps`: the number of samples on each side of an interpolated one. `phases`: their weights for each position between
 * two samples.
 */
export type Interpolation = { taps: number; phases: readonly Float32Array[] };

const TAPS = 8;
/** Speech at a low sample rate has more energy close to half of the rate, which few taps attenuate. */
const LOW_RATE_TAPS = 16;
const LOW_RATE = 44_100;
const POSITIONS = [0.25, 0.5, 0.75];
/** Between two samples below this share of a level, no interpolated one exceeds it: 6 dB. */
export const PRUNED_SHARE = 0.5;

export function createInterpolation(sampleRate: number): Interpolation {
  const taps = sampleRate < LOW_RATE ? LOW_RATE_TAPS : TAPS;
  return { taps, phases: POSITIONS.map((offset) => createPhase(offset, taps)) };
}

/** Returns the weights of the samples around a position between two of them: a sinc in a Hann window. */
function createPhase(offset: number, taps: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * taps }, (_, n) => {
    const x = n - (taps - 1) - offset;
    return (Math.sin(Math.PI * x) / (Math.PI * x)) * (0.5 + 0.5 * Math.cos((Math.PI * x) / taps));
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/**
 * Returns the peak from the sample at `at` up to the next one of its channel, which is `channels` later. There are
 * `taps` samples of the channel after it and `taps` - 1 before it. Below `level`, the result may be too low.
 */
export function findTruePeak(
  { taps, phases }: Interpolation,
  samples: Float32Array,
  at: number,
  channels: number,
  level: number,
): number {
  const here = Math.abs(samples[at]!);
  let peak = here;
  if (Math.max(here, Math.abs(samples[at + channels]!)) <= level * PRUNED_SHARE) return peak;
  // Iterators would take as long as the sums.
  for (let phase = 0; phase < phases.length; phase++) {
    const weights = phases[phase]!;
    let sum = 0;
    for (let n = 0, from = at - (taps - 1) * channels; n < 2 * taps; n++, from += channels)
      sum += weights[n]! * samples[from]!;
    const found = Math.abs(sum);
    if (found > peak) peak = found;
  }
  return peak;
}
