/** Spans without a voice, from the speech analysis. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fromSeconds, type Span, spanFromSeconds } from "../../../src/domain/time";
import { findVoicelessSpans } from "../../../src/domain/voice-activity";

const END = Number.POSITIVE_INFINITY;
type Times = [start: number, end: number][];

const toSpans = (times: Times): Span[] => times.map(([start, end]) => spanFromSeconds({ start, end }));

test.each<[name: string, duration: number, speech: Times, expected: Times]>([
  ["no voice at all", 20, [], [[0, END]]],
  ["no voice in a short recording", 2.9, [], []],
  ["speech from the start to the end", 20, [[0, 20]], []],
  [
    "music before, between and after",
    30,
    [
      [5, 8],
      [14, 17],
    ],
    [
      [0, 4.3],
      [8.5, 13.3],
      [17.5, END],
    ],
  ],
  [
    "pauses of less than three seconds",
    12,
    [
      [2.9, 4],
      [6.9, 9.1],
    ],
    [],
  ],
  [
    "a pause of three seconds",
    9,
    [
      [1, 3],
      [6, 8],
    ],
    [[3.5, 5.3]],
  ],
  ["speech that ends after the recording", 10, [[0, 12]], []],
])("%s", (_, duration, speech, expected) => {
  expect(findVoicelessSpans({ duration: fromSeconds(duration), speech: toSpans(speech) })).toEqual(toSpans(expected));
});

test("spans are sorted and disjoint, and no voice is closer to them than half a second", () => {
  const gaps = fc.array(fc.tuple(fc.integer({ min: 1, max: 9e6 }), fc.integer({ min: 1, max: 9e6 })), { maxLength: 9 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 0, max: 9e6 }), (lengths, rest) => {
      let at = 0;
      const speech = lengths.map(([pause, length]) => {
        const start = at + pause;
        at = start + length;
        return { start, end: at };
      });
      const spans = findVoicelessSpans({ duration: at + rest, speech });
      for (const [n, { start, end }] of spans.entries()) {
        expect(start).toBeLessThan(end);
        expect(start).toBeGreaterThanOrEqual(spans[n - 1]?.end ?? 0);
        for (const voice of speech) expect(voice.end + 500_000 <= start || voice.start - 700_000 >= end).toBe(true);
      }
    }),
  );
});
