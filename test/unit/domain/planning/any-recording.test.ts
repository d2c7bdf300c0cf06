import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Plan } from "../../../../src/domain/plan";
import { detectActivity } from "../../../../src/domain/planning/audio-activity";
import type { StagedPlan } from "../../../../src/domain/planning/context";
import { isReviewRule, reasonOf } from "../../../../src/domain/planning/rules";
import { moveSilentWords, sortWords } from "../../../../src/domain/planning/tokens";
import { ENERGY_HOP, type Word } from "../../../../src/domain/speech";
import { fromSeconds, getFrameCount, getFrameTime, type Span, type Ticks } from "../../../../src/domain/time";
import { checkAny, checkReported, planOf } from "./any-recording";
import type { PlanInput } from "./arbitrary-recordings";

// 300 recordings are planned, several times in some tests: seconds on a quiet machine.
setDefaultTimeout(120_000);

const isKeptWhole = (plan: Plan, span: Span) =>
  plan.segments.some((one) => one.start <= span.start && span.end <= one.end);
const overlapDuration = (a: Span, b: Span) => Math.min(a.end, b.end) - Math.max(a.start, b.start);

describe("any recording, script and options", () => {
  test("segments and removed spans tile the recording exactly", () =>
    checkAny(({ segments, removed, keptDuration, sourceDuration }, { analysis: { duration } }) => {
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

  test("what is removed and not silence has at least 60 ms", () =>
    checkAny(({ segments, removed }) => {
      if (segments.length === 0) return;
      for (const { start, end, reason } of removed)
        if (reason !== "silence") expect(end - start).toBeGreaterThan(fromSeconds(0.06));
    }));

  test("every removed span has a rule with the same reason, and a finding of that rule", () =>
    checkAny(({ removed, findings }) => {
      for (const span of removed) {
        expect(reasonOf(span.rule!)).toBe(span.reason);
        expect(findings.some((one) => one.rule === span.rule && overlapDuration(one, span) > 0)).toBe(true);
      }
      expect(JSON.parse(JSON.stringify(findings))).toEqual(findings);
    }));

  test("every segment that is marked has a finding that says why", () =>
    checkAny(({ segments, findings }) => {
      for (const segment of segments.filter((one) => one.review !== null))
        expect(findings.some((one) => isReviewRule(one.rule) && overlapDuration(one, segment) > 0)).toBe(true);
    }));

  test("segments are long enough, and start and end on frames", () =>
    checkAny(({ segments }, { analysis: { duration }, probed: { frames } }) => {
      for (const [i, { start, end, startFrame, endFrame }] of segments.entries()) {
        expect(end - start).toBeGreaterThanOrEqual(Math.min(duration, fromSeconds(0.1)));
        if (i > 0) expect(start).toBeGreaterThan(segments[i - 1]!.end);
        if (!frames) expect([startFrame, endFrame]).toEqual([null, null]);
        else {
          if (start > 0) expect(start).toBe(getFrameTime(frames, startFrame!));
          if (end < duration) expect(end).toBe(getFrameTime(frames, endFrame!));
          expect(startFrame!).toBeGreaterThanOrEqual(0);
          expect(endFrame!).toBeGreaterThan(startFrame!);
          expect(endFrame!).toBeLessThanOrEqual(getFrameCount(frames));
        }
      }
    }));

  test("a word is kept whole, or removed with a reason other than silence or noise", () =>
    checkAny(({ segments, removed }, { analysis: { transcript, duration }, script }) => {
      if (script !== "") return;
      for (const word of transcript?.words ?? []) {
        const span = { start: Math.max(0, word.start), end: Math.min(duration, word.end) };
        if (span.end <= span.start || segments.some((one) => one.start <= span.start && span.end <= one.end)) continue;
        // The times of overlapping words are ambiguous.
        if (transcript!.words.some((other) => other !== word && overlapDuration(other, span) > 0)) continue;
        const reasons = removed.filter((one) => overlapDuration(one, span) > 0).map((one) => one.reason);
        expect(reasons.some((reason) => reason !== "silence" && reason !== "noise")).toBe(true);
      }
    }));

  test("the same input gives the same plan", () =>
    checkAny(async (plan, input) => {
      const again = await planOf(structuredClone(input));
      const toData = (one: StagedPlan | null) => one && { ...one, listStages: one.listStages() };
      expect(toData(again)).toEqual(toData(plan));
    }));

  test("more padding never drops a word", () =>
    checkAny(async (plan, input) => {
      const { padding_before_seconds: before, padding_after_seconds: after } = input.options;
      const more = await planOf(input, { padding_before_seconds: before + 0.3, padding_after_seconds: after + 0.2 });
      for (const { start, end } of input.analysis.transcript?.words ?? []) {
        // Beside a removed word, the edge is that of the contour's window, which a short segment may extend over.
        const inner = { start: Math.min(end, start + ENERGY_HOP), end };
        if (isKeptWhole(plan, { start, end })) expect(isKeptWhole(more!, inner)).toBe(true);
      }
    }));

  const keepsAll = (words: readonly Word[], plan: Plan, duration: Ticks) => {
    for (const word of words) {
      const span = { start: Math.max(0, word.start), end: Math.min(duration, word.end) };
      if (span.end > span.start) expect(isKeptWhole(plan, span)).toBe(true);
    }
  };
  const planAllWords = (input: PlanInput) =>
    planOf({ ...input, script: "" }, { remove_fillers: false, remove_retakes: false });

  test("no word is removed when fillers and retakes are kept", () =>
    checkAny((plan, { analysis }) => {
      const words = sortWords(analysis.transcript?.words ?? []);
      // A word that spans a pause ends before the pause if the word after it was said after the pause.
      const moved = new Set(moveSilentWords(words, detectActivity(analysis)));
      keepsAll(
        words.filter((word) => moved.has(word)),
        plan,
        analysis.duration,
      );
    }, planAllWords));

  test("nor is a word with a silent word inside it", () => {
    const path = "229:605:0:1:3:3:5:5:1:1:3:1:1:2:2:2:2:2:2:2:2:2:2";
    const holds = (plan: Plan, { analysis: { transcript, duration } }: PlanInput) =>
      keepsAll(transcript!.words, plan, duration);
    return checkReported(1887816893, path, holds, planAllWords);
  });

  test("the takes of a line are disjoint and in order, and the chosen one starts and ends in kept segments", () =>
    checkAny(({ takes, segments }, { analysis: { duration } }) => {
      for (const { candidates, chosen } of takes) {
        const own = candidates[chosen]!;
        const isKept = (time: number) => segments.some((segment) => segment.start <= time && time <= segment.end);
        expect([isKept(own.start), isKept(own.end)]).toEqual([true, true]);
        for (const [i, { start, end, score }] of candidates.entries()) {
          expect(score).toBeWithin(0, 1.0001);
          expect(start).toBeGreaterThanOrEqual(i > 0 ? candidates[i - 1]!.end : 0);
          expect(end).toBeGreaterThan(start);
          expect(end).toBeLessThanOrEqual(duration);
        }
      }
    }));

  test("without a script only lines with several takes are listed", () =>
    checkAny(({ takes }, { script, options }) => {
      if (script !== "") return;
      for (const take of takes) expect(take.candidates.length).toBeGreaterThan(1);
      if (!options.remove_retakes) expect(takes).toEqual([]);
    }));
});
