import { describe, expect, test } from "bun:test";
import { MAX_FIELD_ERRORS } from "../../../src/domain/errors";
import type { PlanJson } from "../../../src/domain/plan-json";
import { parsePlanText } from "../../../src/domain/plan-text";

const plan: PlanJson = {
  source_duration: 10,
  kept_duration: 1,
  frame_rate: { num: 30, den: 1 },
  segments: [{ start: 1, end: 2, start_frame: 30, end_frame: 60, text: "one", review: "Check." }],
  removed: [{ start: 0, end: 1, reason: "silence", rule: "pause.leading", text: "" }],
  takes: [{ line: "one", chosen: 0, candidates: [{ start: 1, end: 2, score: 0.5, complete: true }] }],
  missing: ["two"],
  warnings: ["A warning."],
};
const segment = plan.segments[0]!;
const written = {
  sourceDurationSeconds: 10,
  segments: [{ start: 1, end: 2, text: "one", review: "Check." }],
  removed: plan.removed,
  takes: plan.takes,
  missing: ["two"],
  warnings: ["A warning."],
  language: null,
};
const bare = {
  sourceDurationSeconds: null,
  segments: [{ start: 1, end: 2, text: null, review: null }],
  removed: [],
  takes: [],
  missing: [],
  warnings: [],
  language: null,
};

test.each<[string, unknown, unknown]>([
  ["what cut --plan writes", plan, written],
  ["with a language", { ...plan, language: "en" }, { ...written, language: "en" }],
  ["without a language", { ...plan, language: null }, written],
  ["a cut of the API", { id: "…", state: "completed", options: {}, plan }, written],
  ["segments alone", { segments: [{ start: 1, end: 2 }] }, bare],
  ["nulls for texts", { segments: [{ start: 1, end: 2, text: null, review: null }] }, bare],
  [
    "a removed span of an older plan",
    { segments: [{ start: 1, end: 2 }], removed: [{ start: 0, end: 1, reason: "noise" }] },
    { ...bare, removed: [{ start: 0, end: 1, reason: "noise", text: "" }] },
  ],
])("accepts %s", (_, given, expected) => {
  expect<unknown>(parsePlanText(JSON.stringify(given))).toEqual({ ok: true, plan: expected });
});

describe("reports the problem of", () => {
  const withSegment = (change: object) => JSON.stringify({ ...plan, segments: [segment, { ...segment, ...change }] });
  const withPlan = (change: object) => JSON.stringify({ ...plan, ...change });
  const wrong: [string, string, string[]][] = [
    ["nothing", " \n", [" is empty"]],
    ["a text", "segments: 1", [' is not valid JSON: Unexpected identifier "segments"']],
    ["half a file", JSON.stringify(plan).slice(0, 99), [" is not valid JSON: Unterminated string"]],
    ["NaN", '{"segments":[{"start":NaN,"end":1}]}', [' is not valid JSON: Unexpected identifier "NaN"']],
    ["a list", "[1]", [" must be an object, not a list"]],
    ["a number", "1", [" must be an object, not 1"]],
    ["deep nesting", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, [" must be an object, not a list"]],
    ["a cut without a plan", '{"id":"…","plan":null}', ["plan is null: the cut is not completed"]],
    ["a wrapped text", '{"plan":"x"}', ['plan must be an object, not "x"']],
    ["a wrapped segment", '{"plan":{"segments":[{"start":1}]}}', ["plan.segments[0].end is missing"]],
    ["no segments", "{}", ["segments is missing"]],
    ["an empty list", withPlan({ segments: [] }), ["segments must have at least one segment, not an empty list"]],
    ["segments by name", withPlan({ segments: { a: 1 } }), ["segments must be a list, not an object"]],
    ["a number as a segment", withPlan({ segments: [segment, 7] }), ["segments[1] must be an object, not 7"]],
    ["a time in quotes", withSegment({ start: "1.5" }), ['segments[1].start must be a number of seconds, not "1.5"']],
    ["a null", withSegment({ end: null }), ["segments[1].end must be a number of seconds, not null"]],
    [
      "an infinite time",
      '{"segments":[{"start":1e999,"end":1}]}',
      ["segments[0].start must be a number of seconds, not Infinity"],
    ],
    ["a misspelled field", withSegment({ txt: "two" }), ["segments[1].txt is not a field of a plan"]],
    ["an inherited name", withSegment({ toString: 1 }), ["segments[1].toString is not a field of a plan"]],
    ["a number as a text", withSegment({ text: 5 }), ["segments[1].text must be a text or null, not 5"]],
    [
      "an unknown reason",
      withPlan({ removed: [{ start: 0, end: 1, reason: "dull" }] }),
      ['removed[0].reason must be one of silence, filler, retake, off_script, noise, manual, not "dull"'],
    ],
    [
      "a take",
      withPlan({ takes: [{ line: "", chosen: -1, candidates: [{}] }] }),
      [
        "takes[0].chosen must be an index from 0, not -1",
        "takes[0].candidates[0].start is missing",
        "takes[0].candidates[0].end is missing",
        "takes[0].candidates[0].score is missing",
        "takes[0].candidates[0].complete is missing",
      ],
    ],
    ["control characters", withPlan({ "a\u001b[2J\n": 1 }), ["a [2J  is not a field of a plan"]],
    ["a long name", withPlan({ ["x".repeat(1_000_000)]: 1 }), [`${"x".repeat(40)}… is not a field of a plan`]],
  ];
  test.each(wrong)("%s", (_, text, messages) => {
    const parsed = parsePlanText(text);
    expect(parsed.ok ? [] : parsed.errors.map(({ field, message }) => `${field} ${message}`)).toEqual(messages);
  });

  test("no more than fifty fields", () => {
    const parsed = parsePlanText(JSON.stringify({ segments: Array(100_000).fill({}) }));
    expect(parsed.ok ? 0 : parsed.errors.length).toBe(MAX_FIELD_ERRORS);
  });
});
