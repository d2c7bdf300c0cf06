import { describe, expect, test } from "bun:test";
import type { PlanJson } from "../../../src/domain/plan-json";
import { listEditableWords, listPlanWords } from "../../../src/domain/plan-texts";
import type { Word } from "../../../src/domain/speech";
import { fromSeconds } from "../../../src/domain/time";

/** One word a second: "one" from 0 s, "two" from 1 s, … */
const WORDS: Word[] = "one two three four".split(" ").map((text, i) => ({
  text,
  start: fromSeconds(i + 0.1),
  end: fromSeconds(i + 0.9),
  confidence: 0.9,
}));

type Segment = [start: number, end: number, text: string];

function createPlan(segments: Segment[], language: string | null | undefined): PlanJson {
  const plan: PlanJson = {
    source_duration: 4,
    kept_duration: segments.reduce((sum, [start, end]) => sum + end - start, 0),
    frame_rate: null,
    segments: segments.map(([start, end, text]) => ({
      start,
      end,
      start_frame: null,
      end_frame: null,
      text,
      review: null,
    })),
    removed: [],
    takes: [],
    missing: [],
    warnings: [],
  };
  return language === undefined ? plan : { ...plan, language };
}

const listTexts = (words: Word[] | null) => words?.map(({ text }) => text) ?? null;

describe("the words of a cut", () => {
  const rows: [name: string, segments: Segment[], language: string | null | undefined, expected: string[] | null][] = [
    ["recognized words stay", [[0, 4, "one two three four"]], "en", ["one", "two", "three", "four"]],
    [
      "words that were not understood are left out",
      [
        [0, 2, "one two"],
        [2, 4, ""],
      ],
      "en",
      ["one", "two"],
    ],
    ["not understood at the start of a segment", [[0, 4, "three four"]], "en", ["three", "four"]],
    ["words outside the segments stay", [[0, 1, "one"]], "en", ["one", "two", "three", "four"]],
    ["a corrected word is shown", [[0, 4, "one too three four"]], "en", ["one", "too", "three", "four"]],
    ["a cut of pauses alone has none", [[0, 4, ""]], null, null],
    [
      "a cut of pauses alone with a text typed later",
      [
        [0, 2, "eins zwei"],
        [2, 4, ""],
      ],
      null,
      ["eins", "zwei"],
    ],
    ["an old plan without a language", [[0, 4, "one two three four"]], undefined, ["one", "two", "three", "four"]],
    ["a plan without segments", [], "en", ["one", "two", "three", "four"]],
  ];
  test.each(rows)("%s", (_, segments, language, expected) => {
    expect(listTexts(listPlanWords(createPlan(segments, language), WORDS))).toEqual(expected);
  });

  test("unchanged words keep their times", () => {
    expect(listPlanWords(createPlan([[0, 4, "one two three four"]], "en"), WORDS)).toEqual(WORDS);
  });

  test("without a transcript there are only typed words", () => {
    expect(listPlanWords(createPlan([[0, 4, ""]], "en"), null)).toBeNull();
    expect(listTexts(listPlanWords(createPlan([[1, 2, "typed by hand"]], null), null))).toEqual(["typed by hand"]);
  });
});

test("an edit starts from the words of removed spans as they were corrected", () => {
  const removed = [{ start: 2, end: 4, reason: "manual" as const, text: "trois four" }];
  const plan = { ...createPlan([[0, 2, "one deux"]], "en"), removed };
  expect(listTexts(listEditableWords(plan, WORDS))).toEqual(["one", "deux", "trois", "four"]);
});
