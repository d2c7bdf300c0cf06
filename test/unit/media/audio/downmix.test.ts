import { expect, test } from "bun:test";
import fc from "fast-check";
import { createDownmix } from "../../../../src/media/audio/downmix";

const RATE_HZ = 16_000;

/** Mixes in calls of the given sizes, in stereo pairs; the last call takes the rest. */
function mixInParts(stereo: Float32Array, pairs: readonly number[]): number[] {
  const downmix = createDownmix(RATE_HZ);
  const out: number[] = [];
  let at = 0;
  for (const size of pairs) {
    out.push(...downmix.add(stereo.subarray(at, at + 2 * size)));
    at += 2 * size;
  }
  out.push(...downmix.add(stereo.subarray(at)), ...downmix.end());
  return out;
}

const stereoOf = (seconds: number, left: (n: number) => number, right: (n: number) => number) =>
  Float32Array.from({ length: 2 * Math.round(seconds * RATE_HZ) }, (_, n) => (n % 2 === 0 ? left : right)(n >> 1));

test("the mix of two equal channels is their mean", () => {
  const wave = (n: number) => Math.sin(n / 5);
  for (const [n, value] of mixInParts(stereoOf(0.1, wave, wave), []).entries()) expect(value).toBeCloseTo(wave(n), 5);
});

test("the result does not depend on how the stream is divided", () => {
  const stereo = stereoOf(
    0.31,
    (n) => Math.sin(n / 7) * (n % 900 < 450 ? 0.7 : 0.1),
    (n) => Math.sin(n / 7.3) * (n % 700 < 350 ? 0.2 : 0.8),
  );
  const whole = mixInParts(stereo, []);
  expect(whole).toHaveLength(stereo.length / 2);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 30 }), (pairs) => {
      expect(mixInParts(stereo, pairs)).toEqual(whole);
    }),
  );
});
