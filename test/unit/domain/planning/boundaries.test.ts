import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AudioActivity } from "../../../../src/domain/planning/audio-activity";
import { placeBoundaries } from "../../../../src/domain/planning/decided-spans";
import { type DecidedSpan, isKept } from "../../../../src/domain/planning/spans";
import { COMMON } from "../../../../src/domain/planning/thresholds";
import { fromSeconds } from "../../../../src/domain/time";

const HOPS_PER_SECOND = 200;
const VOICE_DB = -20;
const DURATION = fromSeconds(4);
const FILLER = { rule: "filler.written", scores: { duration: fromSeconds(0.3), pause: 0 } } as const;
const REPETITION = { repeatedAt: fromSeconds(3), pause: 0, words: 1, similarity: 1, alignment: null };
const STUTTER = { rule: "stutter.word", scores: REPETITION } as const;

/** Four seconds of voice in one region, with dips: start and end in seconds, and level. */
function voiceWithDips(...dips: [start: number, end: number, level: number][]): AudioActivity {
  const energy = new Float32Array(4 * HOPS_PER_SECOND).fill(VOICE_DB);
  for (const [start, end, level] of dips) energy.fill(level, start * HOPS_PER_SECOND, end * HOPS_PER_SECOND);
  return { duration: DURATION, energy, contrast: 40, speechRegions: [{ start: 0, end: DURATION }], noiseRegions: [] };
}
const kept = (start: number, end: number): DecidedSpan => ({
  start: fromSeconds(start),
  end: fromSeconds(end),
  text: "w",
  reason: null,
  findings: [],
});
function removed(start: number, end: number, match: typeof FILLER | typeof STUTTER = STUTTER): DecidedSpan {
  const span = kept(start, end);
  const reason = match === FILLER ? "filler" : "retake";
  return { ...span, text: "x", reason, findings: [{ start: span.start, end: span.end, ...match }] };
}
const show = (spans: readonly DecidedSpan[]) => spans.map(({ start, end, reason }) => [start / 1e6, end / 1e6, reason]);

describe("a boundary in voice", () => {
  test("moves into the removed word, to the dip beside it", () => {
    const activity = voiceWithDips([1.06, 1.09, -40], [1.92, 1.95, -40]);
    const [before, stutter, after] = placeBoundaries([kept(0, 1), removed(1, 2), kept(2, 4)], activity);
    expect(before!.end / 1e6).toBeWithin(1.06, 1.09);
    expect(after!.start / 1e6).toBeWithin(1.92, 1.95);
    expect([stutter!.start, stutter!.end]).toEqual([before!.end, after!.start]);
  });
  test("moves into the kept word when the pause is there", () => {
    const activity = voiceWithDips([0.96, 0.985, -40], [2.03, 2.05, -40]);
    const [before, , after] = placeBoundaries([kept(0, 1), removed(1, 2), kept(2, 4)], activity);
    expect(before!.end / 1e6).toBeWithin(0.96, 0.985);
    expect(after!.start / 1e6).toBeWithin(2.03, 2.05);
  });
  test("takes the near dip instead of a slightly deeper one", () => {
    const activity = voiceWithDips([1.02, 1.05, -38], [1.1, 1.12, -39], [1.98, 2, -40]);
    const [before] = placeBoundaries([kept(0, 1), removed(1, 2), kept(2, 4)], activity);
    expect(before!.end / 1e6).toBeWithin(1.02, 1.05);
  });
  test("takes the same dip when the times of the words differ by less than they are exact", () => {
    const activity = voiceWithDips([0.97, 0.99, -30], [1.02, 1.04, -30.5], [1.98, 2, -40]);
    const endsAt = (time: number) =>
      placeBoundaries([kept(0, time), removed(time, 2), kept(2, 4)], activity)[0]!.end / 1e6;
    for (const time of [0.995, 1, 1.005, 1.01]) expect(endsAt(time)).toBeWithin(1.02, 1.04);
  });
  test.each([
    [-20.9, 0],
    [-21.1, 1],
  ])("in dips of %p dB, in a voice of -20 dB, removes %p words", (level, count) => {
    const activity = voiceWithDips([1.02, 1.05, level], [1.35, 1.38, level]);
    const spans = placeBoundaries([kept(0, 1), removed(1, 1.4), kept(1.4, 4)], activity);
    expect(spans.filter(({ reason }) => reason !== null)).toHaveLength(count);
  });
  test.each([
    [4, 1.04],
    [5, 1.02],
  ])("of two dips, %p hops apart, the near one counts if it is the quietest within 4 hops", (apart, expected) => {
    const activity = voiceWithDips();
    const near = Math.round(1.02 * HOPS_PER_SECOND);
    activity.energy.fill(-24, near + apart - 1, near + apart + 2);
    activity.energy.fill(-23, near - 1, near + 2);
    const [before] = placeBoundaries([kept(0, 1), removed(1, 4)], activity);
    expect(before!.end / 1e6).toBeCloseTo(expected + 0.0025, 3);
  });
  test("without a dip at one edge: the word stays", () => {
    const activity = voiceWithDips([1.02, 1.05, -40]);
    const spans = placeBoundaries([kept(0, 1), removed(1, 1.4), kept(1.4, 4)], activity);
    expect(show(spans)).toEqual([
      [0, 1, null],
      [1, 1.4, null],
      [1.4, 4, null],
    ]);
    expect(spans[1]!.findings).toEqual([]);
  });
  test.each([
    ["before", kept(0, 1), removed(1, 4), 0.94, 0.97],
    ["after", removed(0, 1), kept(1, 4), 1.06, 1.03],
  ] as const)("keeps half of a short word %s it", (_, left, right, dip, middle) => {
    const activity = voiceWithDips([dip - 0.01, dip + 0.01, -40]);
    const place = (middles: number[]) => placeBoundaries([left, right], activity, middles)[0]!.end / 1e6;
    expect(Math.abs(place([]) - dip)).toBeLessThan(0.02);
    expect(Math.abs(place([middle * 1e6]) - 1)).toBeLessThanOrEqual(0.03);
  });
  test("of a filler stays near its edge, so that the filler goes whole", () => {
    const activity = voiceWithDips([1.1, 1.13, -40], [1.38, 1.4, -40]);
    const spans = placeBoundaries([kept(0, 1), removed(1, 1.4, FILLER), kept(1.4, 4)], activity);
    expect(spans.every(isKept)).toBe(true);
  });
  test("of a long removal goes to the quietest point that there is", () => {
    const activity = voiceWithDips([1.04, 1.06, -23.5]);
    const [before, retake] = placeBoundaries([kept(0, 1), removed(1, 4)], activity);
    expect(before!.end / 1e6).toBeWithin(1.03, 1.07);
    expect(retake!.reason).toBe("retake");
  });
});

describe("levels of a recorded conversation", () => {
  /** In dB below full scale, one per 5 ms. */
  const record = (levels: string, voiceLevel: number): AudioActivity => {
    const activity = voiceWithDips();
    activity.energy.fill(voiceLevel);
    activity.energy.set(levels.split(" ").map((level) => -Number(level)));
    return activity;
  };
  test("the news. [Let me] let me tell you: cut before the word ends, and in the pause", () => {
    const levels =
      "9.6 9.1 9.1 8.9 9.1 9.5 10.4 11.3 12.2 13.1 13.8 13.9 13.1 13.1 13.6 14.7 15.5 15.6 16.0 16.6 17.9 18.7 18.6 18.7 19.7 20.2 20.2 20.7 20.7 21.3 21.7 21.7 22.7 21.4 21.7 21.4 22.4 22.8 23.0 23.6 24.4 24.7 24.1 22.2 21.3 19.4 17.8 15.6 14.0 12.7 12.2 12.5 12.4 12.2 11.8 12.3 13.4 15.3 17.2 17.6 16.8 16.9 17.4 17.8 17.1 16.9 16.8 17.0 17.1 17.6 18.3 18.9 20.1 22.1 23.9 24.5 24.5 27.2 29.1 30.2 29.8 29.8 30.0 29.6 30.6 30.9 27.7 24.5 22.8 21.6 20.0 18.5 17.8 17.7 17.5 17.1 16.9 17.3 17.9 18.0 18.2 18.4 18.6 18.3 18.1 17.8 18.1 17.4 18.1 16.9 17.4 16.5 17.1 16.5 16.9 15.8 15.4 15.2 16.0 17.4 19.6 22.9 27.3 30.3 32.3 34.5 36.7 33.6 30.6 27.8 25.5 24.2 24.0 24.8 25.5 26.4 19.6 16.0 13.0";
    const spans = [kept(0, 0.2275), removed(0.2275, 0.4175), kept(0.4175, 2)];
    const [before, retake, after] = placeBoundaries(spans, record(levels, -13));
    expect(retake!.reason).toBe("retake");
    expect(before!.end / 1e6).toBeWithin(0.15, 0.22);
    expect(after!.start / 1e6).toBeWithin(0.38, 0.44);
  });
  test("so uh, I: nothing is between the word and the filler, which stays", () => {
    const levels =
      "35.6 35.3 34.7 34.4 34.1 28.9 19.3 15.9 13.5 12.4 11.7 11.3 11.1 11.3 11.2 11.2 10.6 10.7 11.0 11.4 11.6 11.8 12.2 11.8 11.2 10.5 10.2 10.3 10.5 10.9 10.4 10.1 9.9 10.1 10.0 9.7 10.2 10.0 9.8 8.9 8.6 8.7 8.9 9.3 9.4 9.7 9.9 9.6 8.9 8.2 8.2 8.3 8.3 8.6 8.4 8.1 7.4 7.5 7.5 7.4 7.6 7.5 7.3 6.9 7.2 7.3 7.3 7.3 7.2 6.8 6.3 6.0 6.3 6.2 6.2 6.3 6.3 6.2 6.0 6.2 6.5 6.5 6.7 6.5 6.5 6.1 6.4 6.5 6.8 6.8 6.5 6.2 6.4 6.6 6.9 7.0 7.0 6.8 6.5 6.6 6.7 7.2 7.3 7.3 6.9 7.1 7.3 7.6 7.8 7.6 7.4 7.1 7.3 7.4 7.9 8.2 8.2 8.1 8.4 8.8 9.1 9.7 10.1 10.3 10.3 11.0 11.8 12.7 13.4 13.8 14.0 14.1 14.6 15.0 15.9 16.4 17.0 17.3 18.6 19.7 19.9 20.0 20.4 20.8 21.9 21.7 22.8 22.6 23.7 24.4 26.3 28.4 30.5 32.0 29.5 29.1 29.0 32.1 34.5 36.7 36.6 37.4 38.4 42.0 40.3 39.1 39.1 40.6 39.6 38.8 36.4 33.8 33.2 33.6 36.8 38.0 38.0 37.6 37.4 37.7 35.2 33.3 33.1 34.1 34.1 32.6 31.7 33.0 33.8 34.8 33.2 32.7 32.1 32.0 32.9 34.0 36.2 36.4 37.2 36.5 37.5 38.4 33.4 31.4 31.1 33.9 35.9 35.2 34.7 34.9 35.0 35.1 32.3 32.2 31.5 33.7 32.3 31.1 29.3 30.1";
    const spans = [kept(0.1, 0.2675), removed(0.2675, 0.79, FILLER)];
    expect(placeBoundaries(spans, record(levels, -14)).every(isKept)).toBe(true);
  });
});

test("spans stay sorted and disjoint, kept ones whole but for their edges; a short removal has an energy minimum or quiet at both edges", () => {
  const hops = 4 * HOPS_PER_SECOND;
  const levels = fc.array(fc.integer({ min: -60, max: -15 }), { minLength: hops / 10, maxLength: hops / 10 });
  const lengths = fc.array(fc.record({ length: fc.integer({ min: 30_000, max: 900_000 }), isRemoved: fc.boolean() }), {
    minLength: 2,
    maxLength: 8,
  });
  fc.assert(
    fc.property(levels, lengths, (coarse, parts) => {
      const energy = Float32Array.from({ length: hops }, (_, i) => {
        const at = i / 10 - Math.floor(i / 10);
        const [a, b] = [coarse[Math.floor(i / 10)]!, coarse[Math.min(coarse.length - 1, Math.floor(i / 10) + 1)]!];
        return a + at * (b - a);
      });
      const activity = { ...voiceWithDips(), energy };
      let at = 0;
      const spans = parts.flatMap(({ length, isRemoved }) => {
        const start = at / 1e6;
        at = Math.min(DURATION, at + length);
        return at / 1e6 > start ? [isRemoved ? removed(start, at / 1e6) : kept(start, at / 1e6)] : [];
      });
      const placed = placeBoundaries(spans, activity);
      for (const [i, span] of placed.entries())
        if (i > 0) expect(span.start).toBeGreaterThanOrEqual(placed[i - 1]!.end);
      for (const span of spans.filter(isKept))
        expect(
          placed.some((one) => {
            const isWhole = one.start <= span.start + COMMON.minDuration && one.end >= span.end - COMMON.minDuration;
            return isKept(one) && isWhole;
          }),
        ).toBe(true);

      const voice = [...energy].sort((a, b) => a - b)[Math.floor(0.75 * hops)]!;
      const mean = (hop: number) => {
        const level = (k: number) => energy[Math.max(0, Math.min(hops - 1, k))]!;
        return (level(hop - 1) + level(hop) + level(hop + 1)) / 3;
      };
      for (const [i, span] of placed.entries()) {
        const isShort = span.end - span.start <= fromSeconds(0.9);
        if (isKept(span) || !isShort || [placed[i - 1], placed[i + 1]].some((one) => one && !isKept(one))) continue;
        for (const time of [i > 0 ? span.start : null, i + 1 < placed.length ? span.end : null]) {
          if (time === null) continue;
          const hop = Math.floor(time / 5_000);
          const around = [-4, -3, -2, -1, 1, 2, 3, 4].map((k) => mean(hop + k));
          expect(mean(hop) <= voice - 8 + 1e-3 || mean(hop) <= Math.min(...around) + 1e-3).toBe(true);
        }
      }
    }),
  );
});
