/** Loudness of cuts from the steps of a recording. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  amplifySteps,
  type LoudnessSteps,
  measureSpans,
  measureSteps,
  readLoudness,
  writeLoudness,
} from "../../../src/domain/loudness";

const createSteps = (levels: readonly number[]): LoudnessSteps => ({
  energies: Float32Array.from(levels, (level) => 10 ** (level / 10)),
  peaks: Float32Array.from(levels, (level) => 10 ** ((level + 3) / 20)),
});
const repeat = (level: number, count: number): number[] => Array<number>(count).fill(level);
const STEP = 100_000;

test.each<[string, number[], number | null]>([
  ["a constant level", repeat(-20, 50), -20.691],
  ["pauses do not count", [...repeat(-20, 50), ...repeat(-60, 500)], -20.7],
  ["silence", repeat(Number.NEGATIVE_INFINITY, 50), null],
  ["below the absolute gate", repeat(-71, 50), null],
  ["less than a block", repeat(-20, 3), null],
  ["nothing", [], null],
])("%s", (_, levels, expected) => {
  const { integrated } = measureSteps(createSteps(levels));
  if (expected === null) expect(integrated).toBeNull();
  else expect(integrated).toBeCloseTo(expected, 0.5);
});

test("only kept spans count, and the peaks in them", () => {
  const steps = createSteps([...repeat(-30, 30), ...repeat(-10, 10), ...repeat(-30, 30)]);
  const spans = [
    { start: 0, end: 30 * STEP },
    { start: 40 * STEP, end: 70 * STEP },
  ];
  expect(measureSpans(steps, spans).integrated).toBeCloseTo(-30.691, 2);
  expect(measureSpans(steps, spans).peak).toBeCloseTo(-27, 2);
  expect(measureSpans(steps, [{ start: 0, end: 70 * STEP }]).integrated).toBeGreaterThan(-20);
  expect(measureSpans(steps, [])).toEqual({ integrated: null, peak: null });
  // The audio beyond the recording is silent.
  expect(measureSpans(steps, [{ start: 100 * STEP, end: 200 * STEP }])).toEqual({ integrated: null, peak: null });
});

test("however a span is divided, its loudness stays", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -60, max: 0 }), { minLength: 10, maxLength: 80 }),
      fc.array(fc.integer({ min: 1, max: 8_000_000 }), { maxLength: 20 }),
      (levels, cuts) => {
        const steps = createSteps(levels);
        const end = levels.length * STEP;
        const edges = [...new Set([0, ...cuts.filter((cut) => cut < end), end])].sort((a, b) => a - b);
        const spans = edges.slice(1).map((to, n) => ({ start: edges[n]!, end: to }));
        expect(measureSpans(steps, spans).integrated!).toBeCloseTo(measureSteps(steps).integrated!, 3);
      },
    ),
  );
});

test("gains of speakers apply to their spans", () => {
  const steps = createSteps([...repeat(-40, 40), ...repeat(-20, 40)]);
  const gains = [
    { start: 0, end: 40 * STEP, gainDb: 20 },
    { start: 40 * STEP, end: 80 * STEP, gainDb: 0 },
  ];
  expect(measureSteps(amplifySteps(steps, gains, 10)).integrated).toBeCloseTo(-20.691, 2);
  expect(amplifySteps(steps, [], 10)).toEqual(steps);
});

test("a file has the steps to a hundredth of a decibel", () => {
  const steps = createSteps([-20, -199, 3.005, Number.NEGATIVE_INFINITY]);
  const read = readLoudness(writeLoudness(steps).buffer as ArrayBuffer);
  for (const [n, energy] of steps.energies.entries()) {
    if (energy === 0) expect([read.energies[n], read.peaks[n]]).toEqual([0, 0]);
    else expect(Math.abs(10 * Math.log10(read.energies[n]! / energy))).toBeLessThan(0.0051);
  }
});

test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
  ["no header", () => new Uint8Array(11)],
  ["another format", (bytes) => bytes.fill(0x4f, 0, 4)],
  ["cut off", (bytes) => bytes.slice(0, -1)],
  ["too many steps", (bytes) => bytes.fill(0xff, 8, 12)],
])("a damaged file is refused: %s", (_, damage) => {
  const bytes = damage(writeLoudness(createSteps([-20, -20])));
  expect(() => readLoudness(bytes.slice().buffer as ArrayBuffer)).toThrow(RangeError);
});
