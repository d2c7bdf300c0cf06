import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CUT_MODES } from "../../../../src/domain/plan";
import { detectActivity, findQuietestPoint } from "../../../../src/domain/planning/audio-activity";
import { type DecidedSpan, toDecidedSpans } from "../../../../src/domain/planning/decided-spans";
import { assembleSegments } from "../../../../src/domain/planning/segments-from-spans";
import { fromSeconds, type Span } from "../../../../src/domain/time";

const DURATION = fromSeconds(10);
const clock = { duration: DURATION, frames: null };
const kept = (start: number, end: number, text = "w"): DecidedSpan => ({
  start: fromSeconds(start),
  end: fromSeconds(end),
  text,
  keep: true,
  reason: "silence",
  review: null,
});
const removed = (start: number, end: number): DecidedSpan => ({
  ...kept(start, end, "x"),
  keep: false,
  reason: "retake",
});
const secondsOf = ({ start, end }: Span) => [start / 1e6, end / 1e6];
const planned = (decidedSpans: DecidedSpan[], options = CUT_MODES.natural, blurSeconds = 0) =>
  assembleSegments(decidedSpans, clock, options, fromSeconds(blurSeconds)).segments.map(secondsOf);

describe("pauses and paddings", () => {
  test("speech keeps its paddings", () => {
    expect(planned([kept(2, 3), kept(6, 7)])).toEqual([
      [1.88, 3.18],
      [5.88, 7.18],
    ]);
  });
  test("a pause below the least silence stays whole", () => {
    expect(planned([kept(2, 3), kept(3.49, 4)])).toEqual([[1.88, 4.18]]);
  });
  test("paddings do not reach into what goes", () => {
    const [first, second] = planned([kept(2, 3), removed(3.1, 4), kept(4.1, 5)]);
    expect(first![1]).toBeGreaterThan(3);
    expect(first![1]).toBeLessThan(3.1);
    expect(second![0]).toBeGreaterThan(4);
    expect(second![0]).toBeLessThan(4.1);
  });
  test.each([
    ["clear speech", 0, 0.14],
    ["speech whose edges are lost in noise", 0.02, 0.18],
  ])("a join keeps a breath when there is quiet, whatever the options: %s", (_, blurSeconds, pause) => {
    const bare = { ...CUT_MODES.tight, padding_before_seconds: 0, padding_after_seconds: 0, min_silence_seconds: 0.1 };
    const [first, second] = planned([kept(2, 3), kept(5, 6)], bare, blurSeconds);
    // 80 ms, and at both sides what of the edges cannot be told from the quiet.
    expect(first![1]! - 3 + (5 - second![0]!)).toBeCloseTo(pause, 6);
  });
  test("a click inside a short pause stays with it", () => {
    const click: DecidedSpan = { ...removed(3.2, 3.22), reason: "noise", text: "" };
    expect(planned([kept(2, 3), click, kept(3.4, 4)])).toEqual([[1.88, 4.18]]);
  });
  test("with video, edges beside what goes stay clear of it", () => {
    const frames = { kind: "constant" as const, rate: { num: 25, den: 1 }, first: 0, count: 250 };
    const { segments } = assembleSegments(
      [kept(2, 3), removed(3.1, 4), kept(4.1, 5)],
      { duration: DURATION, frames },
      CUT_MODES.natural,
    );
    expect(segments[0]!.end).toBeLessThanOrEqual(fromSeconds(3.1));
    expect(segments[1]!.start).toBeGreaterThanOrEqual(fromSeconds(4));
  });
});

/** A contour of `quiet` but for loud spans. */
function loudAt(...spans: [number, number][]) {
  const energy = new Float32Array(2_000).fill(-70);
  for (const [start, end] of spans) energy.fill(-20, start * 200, end * 200);
  return energy;
}
const soundOf = (spans: [number, number][], speech = spans) =>
  detectActivity({
    duration: DURATION,
    energy: loudAt(...spans),
    speech: speech.map(([start, end]) => ({ start: fromSeconds(start), end: fromSeconds(end) })),
  });
const decideWordless = () => ({ keep: false, reason: "noise" as const, review: null });

describe("islands of sound", () => {
  test("lie where it is loud", () => {
    expect(
      soundOf([
        [1, 2],
        [3, 4],
      ]).speechRegions.map(secondsOf),
    ).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
  test("go on over the closure of a consonant", () => {
    expect(
      soundOf([
        [1, 2],
        [2.06, 3],
      ]).speechRegions.map(secondsOf),
    ).toEqual([[1, 3]]);
  });
  test("away from voice are noise", () => {
    const { speechRegions, noiseRegions } = soundOf(
      [
        [1, 2],
        [5, 6],
      ],
      [[1, 2]],
    );
    expect(speechRegions.map(secondsOf)).toEqual([[1, 2]]);
    expect(noiseRegions.map(secondsOf)).toEqual([[5, 6]]);
  });
  test("the quietest place of a span is found", () => {
    const cut = findQuietestPoint(
      soundOf([
        [1, 2],
        [2.2, 3],
      ]),
      { start: fromSeconds(1.5), end: fromSeconds(2.6) },
    );
    expect(cut).toBeGreaterThan(fromSeconds(2));
    expect(cut).toBeLessThan(fromSeconds(2.2));
  });
});

describe("pieces", () => {
  test("reach to the edges of their island", () => {
    const [decided, ...others] = toDecidedSpans([kept(1.1, 1.9)], soundOf([[1, 2]]), decideWordless);
    expect(others).toEqual([]);
    expect(secondsOf(decided!)).toEqual([1, 2]);
  });
  test("the late release of a last consonant belongs to its word", () => {
    const [decided] = toDecidedSpans(
      [kept(1, 2)],
      soundOf([
        [1, 2],
        [2.2, 2.24],
      ]),
      decideWordless,
    );
    expect(secondsOf(decided!)).toEqual([1, 2.24]);
  });
  test("kept and dropped words of one island are parted where it is quietest", () => {
    const energy = loudAt([1, 3]);
    energy.fill(-40, 2.02 * 200, 2.06 * 200);
    const activity = detectActivity({
      duration: DURATION,
      energy,
      speech: [{ start: fromSeconds(1), end: fromSeconds(3) }],
    });
    const decidedSpans = toDecidedSpans([removed(1, 2.05), kept(2.09, 3)], activity, decideWordless);
    expect(decidedSpans.map((decided) => decided.keep)).toEqual([false, true]);
    expect(decidedSpans[1]!.start).toBeGreaterThan(fromSeconds(2.0));
    expect(decidedSpans[1]!.start).toBeLessThan(fromSeconds(2.09));
  });

  const word = fc.record({
    start: fc.integer({ min: -100_000, max: DURATION }),
    length: fc.integer({ min: 0, max: 800_000 }),
    keep: fc.boolean(),
    reason: fc.constantFrom("filler" as const, "retake" as const),
  });
  const span = fc
    .tuple(fc.integer({ min: 0, max: 9 }), fc.double({ min: 0.02, max: 0.9, noNaN: true }))
    .map(([start, length]): [number, number] => [start, start + length]);

  test("are sorted and apart, and hold every kept word whole; segments hold every kept piece whole", () => {
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 25 }),
        fc.array(span, { maxLength: 8 }),
        fc.array(span, { maxLength: 8 }),
        (words, loud, voice) => {
          const given = words.map(({ length, ...rest }) => ({
            ...rest,
            end: rest.start + length,
            text: "w",
            review: null,
          }));
          const decidedSpans = toDecidedSpans(
            given,
            soundOf(
              loud,
              voice.sort((a, b) => a[0] - b[0]).filter((one, i, all) => i === 0 || one[0] >= all[i - 1]![1]),
            ),
            decideWordless,
          );
          for (const [i, decided] of decidedSpans.entries()) {
            expect(decided.end).toBeGreaterThan(decided.start);
            if (i > 0) expect(decided.start).toBeGreaterThanOrEqual(decidedSpans[i - 1]!.end);
          }
          for (const one of given) {
            const [start, end] = [Math.max(0, one.start), Math.min(DURATION, one.end)];
            if (one.keep && end > start)
              expect(decidedSpans.some((decided) => decided.keep && decided.start <= start && decided.end >= end)).toBe(
                true,
              );
          }
          const { segments } = assembleSegments(decidedSpans, clock, CUT_MODES.tight);
          for (const decided of decidedSpans) {
            if (decided.keep)
              expect(segments.some((segment) => segment.start <= decided.start && segment.end >= decided.end)).toBe(
                true,
              );
          }
        },
      ),
    );
  });
});
