/** Which places of a segment become one mark of its review. */
import { expect, test } from "bun:test";
import { judgePlan } from "../../../../src/domain/pacing/judge-plan";
import type { PlanJson } from "../../../../src/domain/plan-json";
import type { Finding } from "../../../../src/domain/planning/rules";
import { listPlanItems } from "../../../../src/domain/review";
import { fromSeconds } from "../../../../src/domain/time";

const SEGMENT = { start: 0, end: 5, start_frame: null, end_frame: null, text: "", review: "unclear speech" };
const PLAN: PlanJson = {
  ...{ source_duration: 10, kept_duration: 5, frame_rate: null },
  ...{ segments: [SEGMENT], removed: [], takes: [], missing: [], warnings: [] },
};

/** Unclear speech; `length` is the duration among its scores. Times in seconds. */
const unclear = (start: number, end: number, length: number): Finding => ({
  ...{ start: fromSeconds(start), end: fromSeconds(end), rule: "review.unrecognized_speech" },
  scores: { duration: fromSeconds(length), voicedShare: 0.8 },
});

test.each([
  ["no word fits between them", unclear(1.24, 2, 2), ["0.5–2"]],
  ["a word is between them", unclear(1.26, 2, 2), ["0.5–1", "1.26–2"]],
  ["they have the same scores", unclear(3, 4, 1), ["0.5–4"]],
])("marks of one rule in a segment, if %s", (_, second, expected) => {
  const findings = [unclear(0.5, 1, 1), second];
  const judged = judgePlan(PLAN, [{ start: 0, end: fromSeconds(5), text: "", reason: null, findings }]);
  expect(listPlanItems(judged).map((mark) => `${mark.start / 1e6}–${mark.end / 1e6}`)).toEqual(expected);
});
