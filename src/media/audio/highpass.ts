/** A high-pass filter of second order (Butterworth) for one channel. */

/** Filters the samples in place, and keeps its state for the next ones. The samples must be those of `toSample`. */
export type Highpass = (samples: Float32Array) => void;

/** Higher samples would be far louder than full scale: those of a damaged file. */
const MAX_SAMPLE = 8;

/** Returns a sample as a filter takes it. One that is not finite would make all later samples unknown. */
export const toSample = (value: number): number =>
  Number.isFinite(value) ? Math.max(-MAX_SAMPLE, Math.min(MAX_SAMPLE, value)) : 0;

/** Returns the filter, with coefficients of the Audio EQ Cookbook. */
export function createHighpass(hertz: number, sampleRate: number): Highpass {
  const omega = (2 * Math.PI * hertz) / sampleRate;
  const alpha = Math.sin(omega) / Math.SQRT2;
  const scale = 1 + alpha;
  const b0 = (1 + Math.cos(omega)) / 2 / scale;
  const a1 = (-2 * Math.cos(omega)) / scale;
  const a2 = (1 - alpha) / scale;
  let x1 = 0;
  let x2 = 0;
  let y1 = 0;
  let y2 = 0;
  return (samples) => {
    for (let n = 0; n < samples.length; n++) {
      const x = samples[n]!;
      const y = b0 * (x - 2 * x1 + x2) - a1 * y1 - a2 * y2;
      x2 = x1;
      x1 = x;
      y2 = y1;
      y1 = y;
      samples[n] = y;
    }
  };
}
