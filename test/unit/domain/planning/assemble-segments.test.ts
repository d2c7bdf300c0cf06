import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CUT_MODES } from "../../../../src/domain/plan";
import { assembleSegments } from "../../../../src/domain/planning/assemble-segments";
import { detectActivity } from "../../../../src/domain/planning/audio-activity";
import { KEEP, toDecidedSpans } from "../../../../src/domain/planning/decided-spans";
import { type RuleMatch, reasonOf } from "../../../../src/domain/planning/rules";
import { type DecidedSpan, isKept } from "../../../../src/domain/planning/spans";
import { COMMON } from "../../../../src/domain/planning/thresholds";
import { fromSeconds, type Span } from "../../../../src/domain/time";

const DURATION = fromSeconds(10);
const clock = { duration: DURATION, frames: null };
const kept = (start: number, end: number, text = "w"): DecidedSpan => ({
  start: fromSeconds(start),
  end: fromSeconds(end),
  text,
  reason: null,
  findings: [],
});
const REPETITION = { repeatedAt: fromSeconds(4), pause: fromSeconds(0.3), words: 3, similarity: 1, alignment: null };
const FALSE_START = { rule: "false_start.prefix", scores: REPETITION } as const;
const FILLER = { rule: "filler.written", scores: { duration: fromSeconds(0.3), pause: fromSeconds(0.2) } } as const;
const NOISE = { rule: "noise.outside_speech", scores: { duration: fromSeconds(0.02), voicedShare: 0 } } as const;
const removed = (start: number, end: number, match: RuleMatch = FALSE_START): DecidedSpan => ({
  ...kept(start, end, "x"),
  reason: "retake",
  findings: [{ start: fromSeconds(start), end: fromSeconds(end), ...match }],
});
const secondsOf = ({ start, end }: Span) => [start / 1e6, end / 1e6];
const planned = (spans: DecidedSpan[], options = CUT_MODES.natural, edgeMarginSeconds = 0) =>
  assembleSegments(spans, clock, options, fromSeconds(edgeMarginSeconds)).segments.map(secondsOf);

describe("pauses and padding", () => {
  test("speech is padded", () => {
    expect(planned([kept(2, 3), kept(6, 7)])).toEqual([
      [1.88, 3.18],
      [5.88, 7.18],
    ]);
  });
  test("a pause shorter than min_silence_seconds stays whole", () => {
    expect(planned([kept(2, 3), kept(3.49, 4)])).toEqual([[1.88, 4.18]]);
  });
  test("padding does not extend into a removed span", () => {
    const [first, second] = planned([kept(2, 3), removed(3.1, 4), kept(4.1, 5)]);
    expect(first![1]).toBeGreaterThan(3);
    expect(first![1]).toBeLessThan(3.1);
    expect(second![0]).toBeGreaterThan(4);
    expect(second![0]).toBeLessThan(4.1);
  });
  test.each([
    ["clear speech", 0, 0.14],
    ["speech whose edges are hidden in noise", 0.02, 0.18],
  ])("a join keeps a short pause, whatever the options: %s", (_, edgeMarginSeconds, pause) => {
    const bare = { ...CUT_MODES.tight, padding_before_seconds: 0, padding_after_seconds: 0, min_silence_seconds: 0.1 };
    const [first, second] = planned([kept(2, 3), kept(5, 6)], bare, edgeMarginSeconds);
    // 80 ms, and on both sides the part of the edges that is below the noise floor.
    expect(first![1]! - 3 + (5 - second![0]!)).toBeCloseTo(pause, 6);
  });
  test("a click inside a short pause stays with it", () => {
    const click: DecidedSpan = { ...removed(3.2, 3.22, NOISE), reason: "noise", text: "" };
    expect(planned([kept(2, 3), click, kept(3.4, 4)])).toEqual([[1.88, 4.18]]);
  });
  test("with video, segments stay clear of the adjacent removed span", () => {
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

/** A quiet energy contour with loud spans. */
function loudAt(...spans: [number, number][]) {
  const energy = new Float32Array(2_000).fill(-70);
  for (const [start, end] of spans) energy.fill(-20, start * 200, end * 200);
  return energy;
}
const activityOf = (spans: [number, number][], speech = spans) =>
  detectActivity({
    duration: DURATION,
    energy: loudAt(...spans),
    speech: speech.map(([start, end]) => ({ start: fromSeconds(start), end: fromSeconds(end) })),
  });
const decideWordless = () => ({ removal: NOISE, reviews: [] });

describe("speech regions", () => {
  test("are loud stretches", () => {
    expect(
      activityOf([
        [1, 2],
        [3, 4],
      ]).speechRegions.map(secondsOf),
    ).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
  test("continue over the closure of a consonant", () => {
    expect(
      activityOf([
        [1, 2],
        [2.06, 3],
      ]).speechRegions.map(secondsOf),
    ).toEqual([[1, 3]]);
  });
  test("away from any voice are noise regions", () => {
    const { speechRegions, noiseRegions } = activityOf(
      [
        [1, 2],
        [5, 6],
      ],
      [[1, 2]],
    );
    expect(speechRegions.map(secondsOf)).toEqual([[1, 2]]);
    expect(noiseRegions.map(secondsOf)).toEqual([[5, 6]]);
  });
  test("end where the noise of the room begins, when the voice is hardly louder than it", () => {
    const energy = new Float32Array(2_000);
    for (let i = 0; i < energy.length; i++) energy[i] = -45 + ((i * 7) % 11) * 0.5;
    for (const [start, end] of [
      [1, 2],
      [2.8, 5],
    ] as const)
      energy.fill(-22, start * 200, end * 200);
    // A louder room after the fifth second.
    for (let i = 1_000; i < energy.length; i++) energy[i] = energy[i]! + 10;
    for (const [start, end] of [
      [5.6, 7],
      [7.7, 9],
    ] as const)
      energy.fill(-22, start * 200, end * 200);
    const speech = [
      [1, 2],
      [2.8, 5],
      [5.6, 7],
      [7.7, 9],
    ].map(([start, end]) => ({ start: fromSeconds(start!), end: fromSeconds(end!) }));
    const { speechRegions } = detectActivity({ duration: DURATION, energy, speech });
    expect(speechRegions.map(secondsOf)).toEqual(speech.map(secondsOf));
  });
});

const keptWord = (start: number, end: number) => ({
  start: fromSeconds(start),
  end: fromSeconds(end),
  text: "w",
  ...KEEP,
});

describe("decided spans", () => {
  test("extend to the edges of their region", () => {
    const [span, ...others] = toDecidedSpans([keptWord(1.1, 1.9)], activityOf([[1, 2]]), decideWordless);
    expect(others).toEqual([]);
    expect(secondsOf(span!)).toEqual([1, 2]);
  });
  test("the late release of a last consonant belongs to its word", () => {
    const [span] = toDecidedSpans(
      [keptWord(1, 2)],
      activityOf([
        [1, 2],
        [2.2, 2.24],
      ]),
      decideWordless,
    );
    expect(secondsOf(span!)).toEqual([1, 2.24]);
  });
  test("kept and removed words of one region are divided at the quietest point", () => {
    const energy = loudAt([1, 3]);
    energy.fill(-40, 2.02 * 200, 2.06 * 200);
    const activity = detectActivity({
      duration: DURATION,
      energy,
      speech: [{ start: fromSeconds(1), end: fromSeconds(3) }],
    });
    const removedWord = { ...keptWord(1, 2.05), removal: FALSE_START };
    const spans = toDecidedSpans([removedWord, keptWord(2.09, 3)], activity, decideWordless);
    expect(spans.map((one) => one.reason)).toEqual(["retake", null]);
    expect(spans[1]!.start).toBeGreaterThan(fromSeconds(2.0));
    expect(spans[1]!.start).toBeLessThan(fromSeconds(2.09));
  });

  test("a short kept word that a removed one overlaps stays, at least half of it", () => {
    const activity = activityOf(
      [
        [2, 2.84],
        [3, 3.03],
      ],
      [[3, 3.17]],
    );
    const short = keptWord(2.9975, 3.0175);
    const removedWord = { ...keptWord(2.9975, 3.0775), removal: FILLER };
    const span = toDecidedSpans([short, removedWord], activity, decideWordless).findLast(isKept);
    expect(span!.end).toBeGreaterThanOrEqual(fromSeconds(3.0075));
  });

  const word = fc.record({
    start: fc.integer({ min: -100_000, max: DURATION }),
    length: fc.oneof(fc.integer({ min: 0, max: 80_000 }), fc.integer({ min: 0, max: 800_000 })),
    removal: fc.constantFrom(null, null, FILLER, FALSE_START),
  });
  const span = fc
    .tuple(fc.integer({ min: 0, max: 9 }), fc.double({ min: 0.02, max: 0.9, noNaN: true }))
    .map(([start, length]): [number, number] => [start, start + length]);

  test("are sorted and disjoint and contain every kept word, but for its edge at a boundary; segments contain every kept span whole; what is removed has a rule", () => {
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
            reviews: [],
          }));
          const disjoint = voice
            .sort((a, b) => a[0] - b[0])
            .filter((one, i, all) => i === 0 || one[0] >= all[i - 1]![1]);
          const spans = toDecidedSpans(given, activityOf(loud, disjoint), decideWordless);
          for (const [i, one] of spans.entries()) {
            expect(one.end).toBeGreaterThan(one.start);
            if (i > 0) expect(one.start).toBeGreaterThanOrEqual(spans[i - 1]!.end);
          }
          for (const one of given) {
            const [start, end] = [Math.max(0, one.start), Math.min(DURATION, one.end)];
            const holds = (kept: Span) =>
              kept.start <= start + COMMON.minDuration &&
              kept.end >= end - COMMON.minDuration &&
              Math.min(kept.end, end) - Math.max(kept.start, start) >= (end - start) / 2 - 1;
            if (one.removal === null && end > start)
              expect(spans.some((kept) => isKept(kept) && holds(kept))).toBe(true);
          }
          const { segments, removed, findings } = assembleSegments(spans, clock, CUT_MODES.tight);
          for (const kept of spans.filter(isKept))
            expect(segments.some((segment) => segment.start <= kept.start && segment.end >= kept.end)).toBe(true);
          for (const one of removed) {
            expect(reasonOf(one.rule!)).toBe(one.reason);
            expect(findings.some((finding) => finding.rule === one.rule && finding.start < one.end)).toBe(true);
          }
        },
      ),
    );
  });
});

describe("rules of removed spans", () => {
  const rulesOf = (spans: DecidedSpan[]) =>
    assembleSegments(spans, clock, CUT_MODES.natural).removed.map((r) => r.rule);
  test("silence is named by what is on both sides of it", () => {
    expect(rulesOf([kept(2, 3), kept(5, 6)])).toEqual(["pause.leading", "pause.long", "pause.trailing"]);
    expect(rulesOf([removed(2, 3), kept(4, 9.9)])).toEqual([
      "pause.leading",
      "false_start.prefix",
      "pause.beside_removed",
    ]);
  });
  test("its finding has the whole pause and the shortest pause that is shortened", () => {
    const { findings } = assembleSegments([kept(0, 3), kept(5, 10)], clock, CUT_MODES.natural);
    const scores = { pause: fromSeconds(2), minPause: fromSeconds(0.5) };
    expect(findings).toEqual([{ start: fromSeconds(3.18), end: fromSeconds(4.88), rule: "pause.long", scores }]);
  });
  test("a span that several rules removed names the one that covers most of it", () => {
    const long = removed(3.2, 5, { rule: "retake.repeated_line", scores: REPETITION });
    const short = removed(5, 5.3);
    const { removed: spans, findings } = assembleSegments(
      [kept(0, 3), long, short, kept(5.5, 10)],
      clock,
      CUT_MODES.natural,
    );
    expect(spans.map((one) => one.rule)).toEqual(["retake.repeated_line"]);
    expect(findings.map((one) => one.rule)).toEqual(["retake.repeated_line", "false_start.prefix"]);
  });
});
