/** Peaks that a limiter cannot turn down without changing whole periods of a voice. */
import { expect, test } from "bun:test";
import { MaskedClipper } from "../../../../src/media/audio/masked-clipper";
import { processSamples } from "./process-samples";

const RATE = 48_000;
const CEILING = 0.8;

const clip = (samples: Float32Array, channels: number, size: number): Float32Array =>
  processSamples(new MaskedClipper(CEILING, { sampleRate: RATE, channels }), samples, size);

/** Pulses at 110 Hz with a resonance, like a vowel. */
const createVowel = (seconds: number, peak: number): Float32Array => {
  const period = Math.round(RATE / 110);
  const samples = Float32Array.from({ length: seconds * RATE }, (_, n) => {
    const time = (n % period) / RATE;
    return Math.exp(-time * 400) * Math.sin(2 * Math.PI * 600 * time) + 0.2 * Math.sin((2 * Math.PI * 110 * n) / RATE);
  });
  const highest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return samples.map((sample) => (sample * peak) / highest);
};
const getPeak = (samples: Float32Array) => samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
const getPower = (samples: Float32Array) => samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length;
const toDecibels = (power: number) => 10 * Math.log10(power);

test.each([2, 998, 96_000])("samples below the ceiling stay exactly as they are, in blocks of %d", (size) => {
  const samples = Float32Array.from({ length: 20_002 }, (_, n) => CEILING * Math.sin(n / 7) * Math.sin(n / 1_000));
  expect(clip(samples, 2, size)).toEqual(samples);
});

test("no sample, one, and damaged ones come back", () => {
  expect(clip(new Float32Array(0), 1, 1).length).toBe(0);
  expect(clip(Float32Array.of(0.5), 1, 1)).toEqual(Float32Array.of(0.5));
  const broken = Float32Array.from({ length: 5_000 }, (_, n) => (n === 2_500 ? Number.NaN : 0.1));
  expect(clip(broken, 1, 700).length).toBe(5_000);
});

test("peaks of a voice lose 3 dB or more, and the change is far below the voice", () => {
  const samples = createVowel(1, 1.6);
  const output = clip(samples, 1, 5_000);
  expect(getPeak(output)).toBeLessThan(1.6 * 10 ** (-3 / 20));
  const change = output.map((sample, n) => sample - samples[n]!);
  expect(toDecibels(getPower(change)) - toDecibels(getPower(samples))).toBeLessThan(-10);
  expect(Math.abs(toDecibels(getPower(output)) - toDecibels(getPower(samples)))).toBeLessThan(2.5);
});

test("a tone gets no harmonics that could be heard", () => {
  const samples = Float32Array.from({ length: RATE }, (_, n) => 1.6 * Math.sin((2 * Math.PI * 500 * n) / RATE));
  const getThird = (output: Float32Array) => {
    const middle = output.subarray(RATE / 4, (3 * RATE) / 4);
    let [re, im] = [0, 0];
    for (const [n, sample] of middle.entries()) {
      re += sample * Math.cos((2 * Math.PI * 1_500 * n) / RATE);
      im += sample * Math.sin((2 * Math.PI * 1_500 * n) / RATE);
    }
    return 20 * Math.log10((2 * Math.hypot(re, im)) / middle.length);
  };
  const clipped = samples.map((sample) => Math.max(-CEILING, Math.min(CEILING, sample)));
  expect(getThird(clipped)).toBeGreaterThan(-20);
  expect(getThird(clip(samples, 1, 7_001))).toBeLessThan(-45);
});
