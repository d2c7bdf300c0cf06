import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findSpeechSpans, refineEdges } from "../../../src/speech/vad";

/** Probabilities of windows of 32 ms, a digit of tenths each. */
const tenths = (digits: string) => Float32Array.from(digits, (d) => Number(d) / 10);
const windows = (spans: { start: number; end: number }[]) => spans.map((x) => [x.start / 32_000, x.end / 32_000]);

describe("spans of speech", () => {
  test.each([
    ["nothing", "0000000000", []],
    ["a word", "0009999900000000", [[3, 8]]],
    ["a dip too short to be a pause", "0999911199990000000", [[1, 12]]],
    ["a pause", "09999000000099990000000", [[1, 5], [12, 16]]], // biome-ignore format: a table
    ["a hesitant end stays until it is quiet", "09994444000000000", [[1, 8]]],
    ["a click is no speech", "0009900000000000", []],
    ["speech up to the end", "0000099999", [[5, 10]]],
    ["a pause that the end cuts off", "000009999900", [[5, 10]]],
    ["not sure enough to begin", "0444444444444440", []],
  ] as [string, string, number[][]][])("%s", (_, digits, expected) => {
    expect(windows(findSpeechSpans(tenths(digits)))).toEqual(expected);
  });

  test("property: spans are sorted and disjoint", () => {
    fc.assert(
      fc.property(fc.float32Array({ min: 0, max: 1, noNaN: true }), (probabilities) => {
        let last = -1;
        for (const span of findSpeechSpans(probabilities)) {
          expect(span.start).toBeGreaterThan(last);
          expect(span.end).toBeGreaterThan(span.start);
          last = span.end;
        }
      }),
    );
  });
});

describe("edges", () => {
  const energy = (loud: [number, number][], seconds = 4) => {
    const contour = new Float32Array(seconds * 200).fill(-70);
    for (const [from, to] of loud) contour.fill(-20, from * 200, to * 200);
    return contour;
  };
  const at = (start: number, end: number) => ({ start: start * 1e6, end: end * 1e6 });

  test("move outwards while the audio is audible", async () => {
    expect(await refineEdges([at(1.1, 1.9)], energy([[1, 2]]), 4e6)).toEqual([at(1, 2)]);
  });

  test("move inwards while the audio is silent", async () => {
    expect(await refineEdges([at(0.95, 2.05)], energy([[1, 2]]), 4e6)).toEqual([at(1, 2)]);
  });

  test("stop at a limit when the audio stays audible", async () => {
    expect(await refineEdges([at(1.5, 2)], energy([[0, 4]]), 4e6)).toEqual([at(1.25, 2.25)]);
  });

  test("property: spans stay sorted, disjoint and inside the recording", async () => {
    const input = fc.tuple(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })), { maxLength: 8 }),
      fc.array(fc.float({ min: -100, max: 0, noNaN: true }), { minLength: 1, maxLength: 400 }),
    );
    await fc.assert(
      fc.asyncProperty(input, async ([steps, levels]) => {
        let end = 0;
        const spans = steps.map(([gap, length]) => {
          const start = end + gap * 32_000;
          end = start + length * 32_000;
          return { start, end };
        });
        const duration = end + 10_000;
        const contour = Float32Array.from(
          { length: Math.ceil(duration / 5_000) },
          (_, i) => levels[i % levels.length]!,
        );
        let last = 0;
        for (const span of await refineEdges(spans, contour, duration)) {
          expect(span.start).toBeGreaterThanOrEqual(last);
          expect(span.end).toBeGreaterThan(span.start);
          last = span.end;
        }
        expect(last).toBeLessThanOrEqual(duration);
      }),
    );
  });
});
