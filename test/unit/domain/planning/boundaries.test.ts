import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AudioActivity } from "../../../../src/domain/planning/audio-activity";
import { MAX_GIVEN_TICKS, placeBoundaries } from "../../../../src/domain/planning/boundaries";
import { type DecidedSpan, isKept } from "../../../../src/domain/planning/decided-spans";
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
            const isWhole = one.start <= span.start + MAX_GIVEN_TICKS && one.end >= span.end - MAX_GIVEN_TICKS;
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
