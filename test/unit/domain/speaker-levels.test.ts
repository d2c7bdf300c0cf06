import { expect, test } from "bun:test";
import fc from "fast-check";
import { planSpeakerGains } from "../../../src/domain/speaker-levels";
import { ENERGY_HOP } from "../../../src/domain/speech";

const SECOND = 1e6;
const HOPS = SECOND / ENERGY_HOP;
const FLOOR_DB = -65;

/** A contour with two seconds of each level, in the rhythm of speech. A pause between them where `pause` is true. */
const speak = (levels: readonly number[], pause = false) =>
  Float32Array.from(
    levels.flatMap((level) => [
      ...Array.from({ length: 2 * HOPS }, (_, hop) => (hop % 50 < 35 ? level : FLOOR_DB)),
      ...Array.from({ length: pause ? HOPS : 0 }, () => FLOOR_DB),
    ]),
  );
const joinsOf = (levels: readonly number[]) => levels.map((_, n) => 2 * n * SECOND);
const plan = (levels: readonly number[]) =>
  planSpeakerGains(speak(levels), joinsOf(levels), 2 * levels.length * SECOND);

test("a take that is softer than the others gets their level, from join to join", () => {
  expect(plan([-20, -30, -20])).toEqual([
    { start: 0, end: 2 * SECOND, gainDb: 0 },
    { start: 2 * SECOND, end: 4 * SECOND, gainDb: expect.closeTo(10, 1) },
    { start: 4 * SECOND, end: 6 * SECOND, gainDb: 0 },
  ]);
});

test.each([
  ["softer by less than 4 dB", [-20, -23.5, -20]],
  ["a single take", [-30]],
])("%s is left", (_, levels) => {
  expect(plan(levels)).toEqual([]);
});

test.each([
  ["nothing", new Float32Array(0)],
  ["digital silence", new Float32Array(1_000).fill(-100)],
])("%s has no gains", (_, contour) => {
  expect(planSpeakerGains(contour, [0, SECOND], 5 * SECOND)).toEqual([]);
});

test("voices that alternate in one segment are told apart at their pauses, and a loud one is turned down", () => {
  const gains = planSpeakerGains(speak([-26, -26, -14, -26], true), [0], 12 * SECOND);
  expect(gains.map(({ gainDb }) => Math.round(gainDb))).toEqual([0, -12, 0]);
  // In the middle of the pause.
  expect(gains[1]!.start).toBeGreaterThan(5 * SECOND);
  expect(gains[1]!.start).toBeLessThan(6 * SECOND);
});

test("a whisper gets at most 18 dB, and a span without speech the gain of its neighbor", () => {
  const whisper = planSpeakerGains(speak([-10, -10, -10, -35]), [0, 6 * SECOND], 8 * SECOND);
  expect(whisper.map(({ gainDb }) => gainDb)).toEqual([0, 18]);
  const gap = new Float32Array([...speak([-20, -20]), ...new Array(HOPS).fill(-70), ...speak([-32])]);
  expect(planSpeakerGains(gap, [0, 4 * SECOND, 5 * SECOND], 7 * SECOND)).toHaveLength(2);
});

test("gains follow each other without gaps, within bounds, for any contour", () => {
  const contours = fc.array(fc.float({ min: -100, max: 0, noNaN: true }), { maxLength: 4_000 });
  const property = fc.property(contours, fc.array(fc.nat(20 * SECOND), { maxLength: 8 }), (levels, joins) => {
    const duration = levels.length * ENERGY_HOP;
    const gains = planSpeakerGains(
      Float32Array.from(levels),
      joins.sort((a, b) => a - b),
      duration,
    );
    if (gains.length === 0) return;
    expect([gains[0]!.start, gains.at(-1)!.end]).toEqual([0, duration]);
    for (const [n, { start, end, gainDb }] of gains.entries()) {
      expect(end).toBeGreaterThan(start);
      if (n > 0) expect(start).toBe(gains[n - 1]!.end);
      expect(Math.abs(gainDb)).toBeLessThanOrEqual(18);
    }
  });
  fc.assert(property, { numRuns: 60 });
});
