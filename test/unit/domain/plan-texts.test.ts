import { describe, expect, test } from "bun:test";
import { editPlan } from "../../../src/domain/plan-edit";
import { planToJson } from "../../../src/domain/plan-json";
import { applyTexts, type EditedText, validateTexts } from "../../../src/domain/plan-texts";
import { createPlan, SECOND, words } from "./three-words";

const clock = { duration: 10 * SECOND, frames: null };
const plan = createPlan(30);
const text = (start: number, end: number, written = "x"): EditedText => ({ start, end, text: written });

const edit = (texts: EditedText[]) => {
  const applied = applyTexts(words, texts);
  return planToJson(editPlan(plan, plan.segments, applied.words, clock, applied.spans)).segments;
};

describe("invalid texts", () => {
  test.each<[string, EditedText[], string[]]>([
    ["past the end", [text(9, 10.000001)], ["0 must be within 0 and 10"]],
    ["without a duration", [text(1, 1)], ["0 must end after its start"]],
    ["overlapping", [text(1, 3), text(2, 4)], ["1 must not start before the previous text ends"]],
  ])("%s", (_, texts, expected) => {
    expect(validateTexts(texts, clock.duration).map(({ index, message }) => `${index} ${message}`)).toEqual(expected);
  });

  test("neighbors may touch, and 50 errors are enough", () => {
    expect(validateTexts([text(0, 1), text(1, 10)], clock.duration)).toEqual([]);
    expect(validateTexts(Array(60).fill(text(1, 1)), clock.duration)).toHaveLength(50);
  });
});

test("a corrected word is in the text of its segment, which keeps its review", () => {
  expect(edit([text(1, 1.5, " un ")]).map((one) => [one.text, one.review])).toEqual([
    ["un", "Check."],
    ["three", null],
  ]);
});

test("words of a longer text share the time of those that they replace", () => {
  const { words: changed } = applyTexts(words, [text(1, 3.5, "one and two")]);
  expect(changed.map((word) => [word.text, word.start / SECOND])).toEqual([
    ["one and", 1],
    ["two", 3],
    ["three", 5],
  ]);
});

test("a blank text hides its words, and other segments keep their written texts", () => {
  const written = { ...plan, segments: plan.segments.map((one) => ({ ...one, text: `${one.text}!` })) };
  const applied = applyTexts(words, [text(5, 5.5, " ")]);
  const edited = planToJson(editPlan(written, plan.segments, applied.words, clock, applied.spans));
  expect(edited.segments.map((one) => one.text)).toEqual(["one!", ""]);
});
