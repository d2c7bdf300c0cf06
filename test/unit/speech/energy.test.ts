import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  computeGain,
  computePercentile,
  computeSilenceThreshold,
  createEnergyMeter,
  SILENCE_DB,
} from "../../../src/domain/energy";
import { muteSamples } from "../../../src/speech/encoded-windows";
import { amplify, openAnalysisAudio } from "../../../src/speech/pcm";
import { rawFile } from "./test-audio";

describe("PCM files", () => {
  test("are read in parts; an odd byte at the end is ignored", async () => {
    const file = await rawFile(Uint8Array.of(0, 0, 0, 0x80, 0xff, 0x7f, 0, 0x40, 9));
    const pcm = await openAnalysisAudio(file);
    expect(pcm.samples).toBe(4);
    expect([...(await pcm.read(1, 2))]).toEqual([-1, Math.fround(32_767 / 32_768)]);
    expect([...(await pcm.read(3, 100))]).toEqual([0.5]);
    expect((await pcm.read(4, 1)).length).toBe(0);
    expect([...(await pcm.read(-5, 1))]).toEqual([0]);
    await pcm.close();
  });

  test("an empty file has no samples", async () => {
    const pcm = await openAnalysisAudio(await rawFile(new Uint8Array(0)));
    expect(pcm.samples).toBe(0);
    expect((await pcm.read(0, 10)).length).toBe(0);
    await pcm.close();
  });

  test("a changed file has another version", async () => {
    const first = await openAnalysisAudio(await rawFile(new Uint8Array(2)));
    const second = await openAnalysisAudio(await rawFile(new Uint8Array(2)));
    expect(first.version).not.toBe(second.version);
    await Promise.all([first.close(), second.close()]);
  });
});

const contourOf = (samples: Float32Array) => {
  const meter = createEnergyMeter(samples.length);
  meter.add(samples);
  return meter.contour();
};

describe("the energy contour", () => {
  test("a full-scale square wave is 0 dB, silence the floor", () => {
    const contour = contourOf(Float32Array.from({ length: 800 }, (_, i) => (i < 400 ? 1 : 0)));
    expect(contour.length).toBe(10);
    expect(contour[0]).toBeCloseTo(0, 4);
    expect(contour[9]).toBeCloseTo(SILENCE_DB, 4);
    expect(Math.abs(contour[5]! - 10 * Math.log10(1 / 3))).toBeLessThanOrEqual(1 / 256);
  });

  test("does not depend on how the samples are chunked", () => {
    fc.assert(
      fc.property(
        fc.float32Array({ min: -1, max: 1, noNaN: true, maxLength: 500 }),
        fc.integer({ min: 1, max: 200 }),
        (samples, size) => {
          const meter = createEnergyMeter(0);
          for (let at = 0; at < samples.length; at += size) meter.add(samples.subarray(at, at + size));
          expect(meter.contour()).toEqual(contourOf(samples));
        },
      ),
    );
  });

  test("the threshold is between floor and peaks, at most 40 dB below the peaks", () => {
    const contour = new Float32Array(100).fill(-80);
    contour.fill(-20, 50);
    expect(computeSilenceThreshold(contour)).toBeCloseTo(-60, 4);
    contour.fill(-40, 0, 50);
    expect(computeSilenceThreshold(contour)).toBeCloseTo(-35, 4);
  });

  test("percentiles equal those of sorted values, also for many values", () => {
    const input = fc.tuple(fc.integer(), fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(10, 4_096, 5_000));
    fc.assert(
      fc.property(input, ([seed, share, length]) => {
        let state = seed;
        const next = () => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
          return state;
        };
        const values = Float32Array.from({ length }, () => Math.round(next() / 2 ** 20) / 16);
        const rank = Math.min(length - 1, Math.floor(length * share));
        expect(computePercentile(values.subarray(1), share)).toBe(
          values.slice(1).sort()[Math.min(length - 2, Math.floor((length - 1) * share))]!,
        );
        expect(computePercentile(values, share)).toBe(values.slice().sort()[rank]!);
      }),
      { numRuns: 50 },
    );
  });

  test("the percentile of an empty list is silence", () => {
    expect(computePercentile(new Float32Array(0), 0.5)).toBe(SILENCE_DB);
  });
});

describe("levels", () => {
  test("whispers are amplified, loud speech is not", () => {
    expect(computeGain(new Float32Array(100).fill(-62))).toBeCloseTo(100, 3);
    expect(computeGain(new Float32Array(100).fill(-10))).toBe(1);
    expect(computeGain(new Float32Array(100).fill(-100))).toBe(300);
  });

  test("samples are clipped to the range", () => {
    expect([...amplify(Float32Array.of(0.25, -0.5, 0.75), 2)]).toEqual([0.5, -1, 1]);
  });

  test("muting silences the span and fades outside of it", () => {
    const samples = mutedOnes(400, 150, 250);
    expect([...samples.subarray(150, 250)].every((x) => x === 0)).toBe(true);
    expect(samples[60]).toBe(1);
    expect(samples[340]).toBe(1);
    for (let i = 71; i < 150; i++) expect(samples[i]!).toBeLessThan(samples[i - 1]!);
  });

  test("muting beyond the samples is valid", () => {
    expect([...mutedOnes(10, -500, 500)].every((x) => x === 0)).toBe(true);
    expect([...mutedOnes(10, 500, 600)].every((x) => x === 1)).toBe(true);
  });
});

function mutedOnes(length: number, from: number, to: number): Float32Array {
  const samples = new Float32Array(length).fill(1);
  muteSamples(samples, from, to);
  return samples;
}
