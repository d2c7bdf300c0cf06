import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type FrameTimes,
  formatDuration,
  getFrameAtOrAfter,
  getFrameAtOrBefore,
  getFrameCount,
  getFrameTime,
  TICKS_PER_SECOND,
  toFrameTimes,
} from "../../../src/domain/time";

const times = (count: number, at: (n: number) => number) =>
  Float64Array.from({ length: count }, (_, n) => Math.round(at(n)));

describe("frame times from packet times", () => {
  test.each([
    [24_000, 1_001],
    [24, 1],
    [25, 1],
    [30_000, 1_001],
    [30, 1],
    [50, 1],
    [60_000, 1_001],
    [60, 1],
    [15, 1],
    [25, 2],
  ])("%p/%p is detected in times rounded to milliseconds, over three hours", (num, den) => {
    const count = Math.round((3 * 3600 * num) / den);
    const rounded = times(count, (n) => Math.round((n * den * 1000) / num) * 1000);
    const found = toFrameTimes(rounded, rounded.at(-1)! + 1, 1_100);
    expect(found).toEqual({ kind: "constant", rate: { num, den }, first: 0, count });
  });

  test("a missing frame makes the rate variable", () => {
    const gap = times(100, (n) => (n < 50 ? n : n + 1) * 40_000);
    const found = toFrameTimes(gap, 101 * 40_000, 40_000);
    expect(found.kind).toBe("listed");
    expect(getFrameTime(found, 50)).toBe(51 * 40_000);
    expect(getFrameTime(found, 100)).toBe(101 * 40_000);
  });

  test("a non-standard rate is kept", () => {
    const odd = times(200, (n) => n * 47_000);
    expect(toFrameTimes(odd, 200 * 47_000, 1_100)).toMatchObject({ kind: "constant", count: 200 });
  });

  test("a single frame", () => {
    const found = toFrameTimes(new Float64Array([20_000]), 60_000, 1_100);
    expect(getFrameCount(found)).toBe(1);
    expect(getFrameTime(found, 0)).toBe(20_000);
    expect(getFrameTime(found, 1)).toBe(60_000);
  });
});

const clips = fc.oneof(
  fc
    .record({
      rate: fc.constantFrom({ num: 30_000, den: 1_001 }, { num: 25, den: 1 }, { num: 60, den: 1 }),
      first: fc.integer({ min: 0, max: 1_000_000 }),
      count: fc.integer({ min: 1, max: 500 }),
    })
    .map((clip): FrameTimes => ({ kind: "constant", ...clip })),
  fc.uniqueArray(fc.integer({ min: 0, max: 20_000_000 }), { minLength: 1, maxLength: 200 }).map((list): FrameTimes => {
    const sorted = Float64Array.from(list).sort();
    return { kind: "listed", rate: { num: 25, den: 1 }, times: sorted, end: sorted.at(-1)! + 40_000 };
  }),
);

describe("finding frames", () => {
  test("a frame is found at its time, and between two frames the neighbors on both sides", () => {
    fc.assert(
      fc.property(clips, fc.nat(), (clip, pick) => {
        const n = pick % getFrameCount(clip);
        const at = getFrameTime(clip, n);
        expect(getFrameAtOrBefore(clip, at)).toBe(n);
        expect(getFrameAtOrAfter(clip, at)).toBe(n);
        expect(getFrameAtOrAfter(clip, at + 1)).toBe(n + 1);
        if (n > 0) expect(getFrameAtOrBefore(clip, at - 1)).toBe(n - 1);
      }),
    );
  });

  test("times never decrease, and stay within a tick of the exact rate", () => {
    fc.assert(
      fc.property(clips, (clip) => {
        for (let n = 1; n <= getFrameCount(clip); n++)
          expect(getFrameTime(clip, n)).toBeGreaterThan(getFrameTime(clip, n - 1));
        if (clip.kind === "constant") {
          const exact = clip.first + (clip.count * clip.rate.den * TICKS_PER_SECOND) / clip.rate.num;
          expect(Math.abs(getFrameTime(clip, clip.count) - exact)).toBeLessThanOrEqual(0.5);
        }
      }),
    );
  });
});

test.each([
  [1, "1 second"],
  [90, "90 seconds"],
  [60, "1 minute"],
  [3_600, "1 hour"],
  [5_400, "90 minutes"],
  [86_400, "24 hours"],
  [0.5, "0.5 seconds"],
])("%p seconds are %p", (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});
