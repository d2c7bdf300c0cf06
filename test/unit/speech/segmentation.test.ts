import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Span } from "../../../src/domain/time";
import {
  clipSegment,
  createSegments,
  DEFAULT_SEGMENTATION,
  findQuietest,
  splitToLength,
} from "../../../src/speech/segmentation";

const s = (seconds: number) => Math.round(seconds * 1e6);
const span = (start: number, end: number): Span => ({ start: s(start), end: s(end) });
const flat = (seconds: number) => new Float32Array(seconds * 200).fill(-20);
const bounds = (spans: Span[]) => spans.map((x) => [x.start / 1e6, x.end / 1e6]);

describe("segments", () => {
  test("spans close together become one segment, padded with the silence around it", () => {
    const segments = createSegments([span(1, 2), span(2.5, 4), span(6, 7)], flat(10), s(10));
    expect(bounds(segments)).toEqual([
      [0.8, 4.2],
      [5.8, 7.2],
    ]);
    expect(segments.map((x) => x.speech.length)).toEqual([2, 1]);
  });

  test("padding never extends beyond the middle of a gap or the recording", () => {
    const options = { ...DEFAULT_SEGMENTATION, maxGap: s(0.1) };
    const segments = createSegments([span(0.05, 2), span(2.2, 4)], flat(5), s(4.02), options);
    expect(bounds(segments)).toEqual([
      [0, 2.1],
      [2.1, 4.02],
    ]);
  });

  test("merging stops at the length that is recognized well", () => {
    const speech = Array.from({ length: 10 }, (_, i) => span(i * 3, i * 3 + 2.7));
    const segments = createSegments(speech, flat(30), s(30));
    expect(Math.max(...segments.map((x) => x.end - x.start))).toBeLessThanOrEqual(s(15.4));
  });

  test("a long sentence without a pause is split at its quietest place", () => {
    const energy = flat(40);
    energy.fill(-45, 20.5 * 200, 20.8 * 200);
    const segments = createSegments([span(0.2, 39.8)], energy, s(40));
    expect(segments).toHaveLength(2);
    expect(segments[0]!.end / 1e6).toBeGreaterThan(20.5);
    expect(segments[0]!.end / 1e6).toBeLessThan(20.8);
    expect(segments[1]!.start).toBe(segments[0]!.end);
  });

  test("property: segments are sorted, disjoint, inside the recording, short enough, and cover all speech", () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 20, max: 40_000 })), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 500 }), (gaps, rest) => {
        let at = 0;
        const speech = gaps.map(([quiet, spoken]) => {
          const start = at + quiet * 1000;
          at = start + spoken * 1000;
          return { start, end: at };
        });
        const duration = at + rest * 1000;
        const segments = createSegments(speech, new Float32Array(Math.ceil(duration / 5000)).fill(-30), duration);
        for (const [i, segment] of segments.entries()) {
          expect(segment.start).toBeGreaterThanOrEqual(segments[i - 1]?.end ?? 0);
          expect(segment.end).toBeLessThanOrEqual(duration);
          expect(segment.end - segment.start).toBeGreaterThan(0);
          expect(segment.end - segment.start).toBeLessThanOrEqual(DEFAULT_SEGMENTATION.maxLength);
        }
        const covered = segments.flatMap((x) => x.speech).reduce((sum, x) => sum + x.end - x.start, 0);
        expect(covered).toBe(speech.reduce((sum, x) => sum + x.end - x.start, 0));
      }),
    );
  });
});

describe("splitting", () => {
  test("finds the quietest 200 ms, the first among equals", () => {
    const energy = flat(4);
    energy.fill(-60, 300, 340);
    expect(findQuietest(energy, 0, s(4))).toBe(s(1.6));
    expect(findQuietest(flat(4), s(1), s(3))).toBe(s(1.1));
  });

  test("a short segment is not split", () => {
    const segment = { ...span(0, 5), speech: [span(1, 2)] };
    expect(splitToLength(segment, flat(5), s(5))).toEqual([segment]);
  });

  test("a part keeps the speech inside it", () => {
    const segment = { ...span(0, 10), speech: [span(1, 3), span(4, 6), span(7, 9)] };
    expect(clipSegment(segment, s(2), s(5)).speech).toEqual([span(2, 3), span(4, 5)]);
  });
});
