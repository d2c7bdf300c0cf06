import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../../../src/domain/errors";
import type { CutOptions, Plan } from "../../../../src/domain/plan";
import { fromSeconds, getFrameTime, type Span } from "../../../../src/domain/time";
import { planCut } from "../../../../src/work/plan-cut";
import { anything, type Given, recordings } from "./arbitrary-recordings";

const EXPECTED = new Set(["no_speech", "script_mismatch", "transcription_unavailable"]);

/** The plan, or null when the recording cannot be planned for a reason that users are told of. */
async function planOf(given: Given, over: Partial<CutOptions> = {}): Promise<Plan | null> {
  try {
    const options = { ...given.options, ...over };
    return await planCut({ ...given, analysis: given.listening, options, forcedAlign: anything(given.seed) });
  } catch (error) {
    if (error instanceof AppError && EXPECTED.has(error.code)) return null;
    throw error;
  }
}

const RUNS = 300;
const whatever = (holds: (plan: Plan, given: Given) => void | Promise<void>) =>
  fc.assert(
    fc.asyncProperty(recordings, async (given) => {
      const plan = await planOf(given);
      if (plan) await holds(plan, given);
    }),
    { numRuns: RUNS },
  );
const tokens = (plan: Plan, span: Span) => plan.segments.some((one) => one.start <= span.start && span.end <= one.end);
const overlapDuration = (a: Span, b: Span) => Math.min(a.end, b.end) - Math.max(a.start, b.start);

describe("whatever is recorded and asked for", () => {
  test("segments and removed stretches tile the recording exactly", () =>
    whatever(({ segments, removed, keptDuration, sourceDuration }, { listening: { duration } }) => {
      let at = 0;
      for (const span of [...segments, ...removed].sort((a, b) => a.start - b.start)) {
        expect(span.start).toBe(at);
        expect(span.end).toBeGreaterThan(span.start);
        expect(Number.isInteger(span.end)).toBe(true);
        at = span.end;
      }
      expect([at, sourceDuration]).toEqual([duration, duration]);
      expect(keptDuration).toBe(segments.reduce((sum, { start, end }) => sum + end - start, 0));
    }));

  test("segments are long enough, and begin and end on frames", () =>
    whatever(({ segments }, { listening: { duration }, probed: { frames } }) => {
      for (const [i, { start, end, startFrame, endFrame }] of segments.entries()) {
        expect(end - start).toBeGreaterThanOrEqual(Math.min(duration, fromSeconds(0.1)));
        if (i > 0) expect(start).toBeGreaterThan(segments[i - 1]!.end);
        if (!frames) expect([startFrame, endFrame]).toEqual([null, null]);
        else {
          if (start > 0) expect(start).toBe(getFrameTime(frames, startFrame!));
          if (end < duration) expect(end).toBe(getFrameTime(frames, endFrame!));
        }
      }
    }));

  test("a word is heard whole, or goes for a reason of its own", () =>
    whatever(({ segments, removed }, { listening: { transcript, duration }, script }) => {
      if (script !== "") return;
      for (const word of transcript?.words ?? []) {
        const span = { start: Math.max(0, word.start), end: Math.min(duration, word.end) };
        if (span.end <= span.start || segments.some((one) => one.start <= span.start && span.end <= one.end)) continue;
        // Of words at one and the same time it is not known which was said where.
        if (transcript!.words.some((other) => other !== word && overlapDuration(other, span) > 0)) continue;
        const reasons = removed.filter((one) => overlapDuration(one, span) > 0).map((one) => one.reason);
        expect(reasons.some((reason) => reason !== "silence" && reason !== "noise")).toBe(true);
      }
    }));

  test("the same gives the same", () =>
    whatever(async (plan, given) => {
      expect(await planOf(structuredClone(given))).toEqual(plan);
    }));

  test("more padding never drops a word", () =>
    whatever(async (plan, given) => {
      const { padding_before_seconds: before, padding_after_seconds: after } = given.options;
      const more = await planOf(given, { padding_before_seconds: before + 0.3, padding_after_seconds: after + 0.2 });
      for (const word of given.listening.transcript?.words ?? [])
        if (tokens(plan, word)) expect(tokens(more!, word)).toBe(true);
    }));

  test("nothing that was said goes when nothing is to be removed", () =>
    fc.assert(
      fc.asyncProperty(recordings, async (given) => {
        const plan = await planOf({ ...given, script: "" }, { remove_fillers: false, remove_retakes: false });
        const { duration, transcript } = given.listening;
        for (const word of plan ? (transcript?.words ?? []) : []) {
          const span = { start: Math.max(0, word.start), end: Math.min(duration, word.end) };
          if (span.end > span.start) expect(tokens(plan!, span)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    ));

  test("the takes of a line are apart and in order, and the chosen one begins and ends in what is kept", () =>
    whatever(({ takes, segments }, { listening: { duration } }) => {
      for (const { candidates, chosen } of takes) {
        const own = candidates[chosen]!;
        const held = (time: number) => segments.some((segment) => segment.start <= time && time <= segment.end);
        expect([held(own.start), held(own.end)]).toEqual([true, true]);
        for (const [i, { start, end, score }] of candidates.entries()) {
          expect(score).toBeWithin(0, 1.0001);
          expect(start).toBeGreaterThanOrEqual(i > 0 ? candidates[i - 1]!.end : 0);
          expect(end).toBeGreaterThan(start);
          expect(end).toBeLessThanOrEqual(duration);
        }
      }
    }));

  test("without a script only what was said more than once is listed", () =>
    whatever(({ takes }, { script, options }) => {
      if (script !== "") return;
      for (const take of takes) expect(take.candidates.length).toBeGreaterThan(1);
      if (!options.remove_retakes) expect(takes).toEqual([]);
    }));
});
