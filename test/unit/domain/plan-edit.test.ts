import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { editPlan, validateEdit } from "../../../src/domain/plan-edit";
import { planToJson } from "../../../src/domain/plan-json";
import type { SourceClock } from "../../../src/domain/segments";
import { createPlan, SECOND, words } from "./three-words";

const audio: SourceClock = { duration: 10 * SECOND, frames: null };
const video: SourceClock = {
  duration: 10 * SECOND,
  frames: { kind: "constant", rate: { num: 30, den: 1 }, first: 0, count: 300 },
};

const plan = createPlan(30);

describe("invalid segments", () => {
  test.each<[string, [number, number][], string[]]>([
    ["before the start", [[-1, 2]], ["0 must be within 0 and 10"]],
    ["past the end", [[9, 10.000001]], ["0 must be within 0 and 10"]],
    ["backwards", [[2, 1]], ["0 must be at least 0.1 s long"]],
    ["too short", [[1, 1.09]], ["0 must be at least 0.1 s long"]],
    [
      "overlapping",
      [
        [1, 3],
        [2, 4],
      ],
      ["1 must not start before the previous segment ends"],
    ],
    [
      "out of order",
      [
        [5, 6],
        [1, 2],
      ],
      ["1 must not start before the previous segment ends"],
    ],
  ])("%s", (_, spans, expected) => {
    const segments = spans.map(([start, end]) => ({ start, end }));
    expect(validateEdit(segments, audio).map(({ index, message }) => `${index} ${message}`)).toEqual(expected);
  });
});

test("a tenth of a second is enough everywhere, and neighbors may touch", () => {
  for (let tenth = 0; tenth < 100; tenth++) {
    expect(validateEdit([{ start: tenth / 10, end: (tenth + 1) / 10 }], audio)).toEqual([]);
  }
  expect(
    validateEdit(
      [
        { start: 0.1, end: 0.1 + 0.2 },
        { start: 0.3, end: 0.4 },
      ],
      audio,
    ),
  ).toEqual([]);
});

test("unchanged segments make the same plan", () => {
  const { removed, segments, kept_duration } = planToJson(editPlan(plan, plan.segments, words, video));
  expect({ removed, segments, kept_duration }).toEqual({
    removed: plan.removed,
    segments: plan.segments,
    kept_duration: plan.kept_duration,
  });
});

test("spans that the user removes are manual, with their words; earlier removals keep their reason and rule", () => {
  const edited = planToJson(editPlan(plan, [{ start: 1, end: 2 }], words, video));
  expect(edited.removed).toEqual([
    { start: 0, end: 1, reason: "silence", rule: "pause.leading", text: "" },
    { start: 2, end: 5, reason: "retake", rule: "false_start.prefix", text: "two" },
    { start: 5, end: 6, reason: "manual", rule: "manual.edit", text: "three" },
    { start: 6, end: 10, reason: "silence", rule: "pause.trailing", text: "" },
  ]);
  expect(edited.missing).toEqual(["a line"]);
});

test("spans that the user restores have their words again, and no review", () => {
  const edited = planToJson(editPlan(plan, [{ start: 2.9, end: 4 }], words, video));
  expect(edited.segments).toEqual([{ start: 2.9, end: 4, start_frame: 87, end_frame: 120, text: "two", review: null }]);
});

test("spans that stay removed have the words that are left in them, and corrected ones", () => {
  const retake = { start: 2, end: 5, reason: "retake" as const, rule: "false_start.prefix" as const };
  const edited = planToJson(editPlan(plan, [{ start: 2.9, end: 4 }], words, video));
  expect(edited.removed.filter(({ reason }) => reason === "retake").map(({ text }) => text)).toEqual(["", ""]);
  const corrected = words.map((word) => (word.text === "two" ? { ...word, text: "deux" } : word));
  const span = { start: 2 * SECOND, end: 5 * SECOND };
  const { removed } = planToJson(editPlan(plan, plan.segments, corrected, video, [span]));
  expect(removed).toContainEqual({ ...retake, text: "deux" });
});

test("a plan that was stored before rules were recorded can be edited", () => {
  const stored = {
    ...plan,
    removed: plan.removed.map(({ start, end, reason, text }) => ({ start, end, reason, text })),
  };
  const edited = planToJson(editPlan(stored, [{ start: 1, end: 2 }], words, video));
  expect(edited.removed.map((span) => span.rule)).toEqual([null, null, "manual.edit", null]);
});

test("accepted segments and removed spans tile the source", () => {
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 100 }), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(times, fc.boolean(), (tenths, hasVideo) => {
      const clock = hasVideo ? video : audio;
      const sorted = tenths.sort((a, b) => a - b).map((t) => t / 10);
      const segments = sorted.slice(1).map((end, i) => ({ start: sorted[i]!, end }));
      const chosen = segments.filter((_, i) => i % 2 === 0);
      expect(validateEdit(chosen, clock)).toEqual([]);
      const edited = planToJson(editPlan(plan, chosen, words, clock));
      const parts = [...edited.segments, ...edited.removed].sort((a, b) => a.start - b.start);
      expect(parts[0]!.start).toBe(0);
      expect(parts.at(-1)!.end).toBe(10);
      for (const [i, part] of parts.slice(1).entries()) expect(part.start).toBe(parts[i]!.end);
    }),
  );
});
