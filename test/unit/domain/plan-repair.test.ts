import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { MediaInfo, ProbedMedia } from "../../../src/domain/media";
import { type PlanJson, planToJson } from "../../../src/domain/plan-json";
import { repairPlan } from "../../../src/domain/plan-repair";
import { parsePlanText } from "../../../src/domain/plan-text";
import { listRemovedSpans, type SourceClock, toSegments } from "../../../src/domain/segments";
import { createPlan, SECOND, words } from "./three-words";

/** Returns the probe result of a recording of ten seconds. */
function probed(frames: ProbedMedia["frames"]): ProbedMedia {
  return { info: { duration: 10 * SECOND, video: null } as unknown as MediaInfo, frames };
}
const audio = probed(null);
const video = probed({ kind: "constant", rate: { num: 25, den: 1 }, first: 0, count: 250 });

const plan = createPlan(25);
type Bounds = Partial<PlanJson["segments"][number]> & { start: number; end: number };

function repair(change: Omit<Partial<PlanJson>, "segments"> & { segments?: Bounds[] }, media = video, spoken = words) {
  const parsed = parsePlanText(JSON.stringify({ ...plan, ...change }));
  if (!parsed.ok) throw new Error(parsed.errors[0]?.field);
  return repairPlan(parsed.plan, spoken, media);
}

function repaired(...args: Parameters<typeof repair>) {
  const result = repair(...args);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
}

test("an unchanged plan stays the same, with or without a transcript", () => {
  expect(repaired({})).toEqual({ ok: true, plan, words, warnings: [] });
  expect(repaired({}, video, []).plan).toEqual(plan);
});

test("bounds are snapped to the frames of the recording, whatever the frames in the file are", () => {
  const { segments, kept_duration } = repaired({
    segments: [{ start: 1.01, end: 2.05, start_frame: 7, end_frame: 9, text: "one" }],
  }).plan;
  expect(segments).toEqual([{ start: 1, end: 2.08, start_frame: 25, end_frame: 52, text: "one", review: null }]);
  expect(kept_duration).toBe(1.08);
  expect(repaired({ segments: [{ start: 1.01, end: 2.05 }] }, audio).plan.segments[0]).toMatchObject({
    start: 1.01,
    end: 2.05,
    start_frame: null,
  });
});

test("spans that a person removes are manual; earlier removals keep their reason and rule", () => {
  const { removed } = repaired({ segments: [plan.segments[0]!] }).plan;
  expect(removed.map(({ start, end, reason, rule, text }) => [start, end, reason, rule, text])).toEqual([
    [0, 1, "silence", "pause.leading", ""],
    [2, 5, "retake", "false_start.prefix", "two"],
    [5, 6, "manual", "manual.edit", "three"],
    [6, 10, "silence", "pause.trailing", ""],
  ]);
});

test("removed spans in disorder explain what they can", () => {
  const removed = [plan.removed[2]!, { ...plan.removed[1]!, start: -3, end: 99 }, plan.removed[0]!];
  const result = repaired({ segments: [{ start: 4, end: 5 }], removed }).plan;
  expect(result.removed.map(({ start, end, reason }) => [start, end, reason])).toEqual([
    [0, 4, "retake"],
    [5, 10, "retake"],
  ]);
});

describe("texts", () => {
  const texts = (...args: Parameters<typeof repair>) => {
    const result = repaired(...args);
    return [result.plan.segments.map(({ text }) => text), result.words.map(({ text }) => text)];
  };
  test.each<[string, Parameters<typeof repair>[0], string[], string[]]>([
    ["are kept as written", { segments: [{ start: 1, end: 2, text: "won" }] }, ["won"], ["won", "two", "three"]],
    [
      "are recognized when they are not given",
      { segments: [{ start: 1, end: 4 }] },
      ["one two"],
      words.map((w) => w.text),
    ],
    ["may be empty", { segments: [{ start: 1, end: 2, text: "" }] }, [""], ["two", "three"]],
    [
      "of joined segments are joined",
      {
        segments: [
          { start: 1, end: 2, text: "won" },
          { start: 2, end: 4 },
        ],
      },
      ["won two"],
      ["won", "two", "three"],
    ],
    [
      "need no list of removed spans",
      { segments: [{ start: 1, end: 4, text: "one too" }], removed: [] },
      ["one too"],
      ["one", "too", "three"],
    ],
  ])("%s", (_, change, segmentTexts, wordTexts) => {
    expect(texts(change)).toEqual([segmentTexts, wordTexts]);
  });

  test("without a transcript become the words", () => {
    const { words: typed } = repaired({ segments: [{ start: 1, end: 2, text: "by hand" }] }, video, []);
    expect(typed).toEqual([{ text: "by hand", start: SECOND, end: 2 * SECOND, confidence: 1 }]);
  });
});

describe("is rejected with the segment:", () => {
  test.each<[string, Bounds[], string[]]>([
    ["negative", [{ start: -1, end: 2 }], ["segments[0].start must be within 0 and 10 (-1 s to 2 s)"]],
    [
      "beyond the recording",
      [
        { start: 1, end: 2 },
        { start: 9, end: 20 },
      ],
      ["segments[1].end must be within 0 and 10 (9 s to 20 s)"],
    ],
    ["backwards", [{ start: 2, end: 1 }], ["segments[0] must be at least 0.1 s long (2 s to 1 s)"]],
    [
      "overlapping",
      [
        { start: 1, end: 3 },
        { start: 2, end: 4 },
      ],
      ["segments[1] must not start before the previous segment ends (2 s to 4 s)"],
    ],
    [
      "out of order",
      [
        { start: 5, end: 6 },
        { start: 1, end: 2 },
      ],
      ["segments[1] must not start before the previous segment ends (1 s to 2 s)"],
    ],
  ])("%s", (_, segments, messages) => {
    const result = repair({ segments });
    expect(result.ok ? [] : result.errors.map(({ field, message }) => `${field} ${message}`)).toEqual(messages);
  });
});

describe("a plan of another recording", () => {
  test("is rejected when the durations differ", () => {
    const result = repair({ source_duration: 11 });
    expect(result.ok ? [] : result.errors).toEqual([
      {
        field: "source_duration",
        message:
          "is 11 s, but the recording has 10 s: the plan was made for another one. Remove source_duration from the plan to use it anyway",
      },
    ]);
  });
  test("of almost the same duration is a warning, and its end is that of the recording", () => {
    const result = repaired({ source_duration: 10.4, segments: [{ start: 9, end: 10.4, text: "" }] });
    expect(result.plan).toMatchObject({ source_duration: 10, segments: [{ start: 9, end: 10 }] });
    expect(result.warnings).toEqual(["The plan was made for a recording of 10.4 s, this one has 10 s."]);
  });
});

test("joined segments are a warning", () => {
  const { plan: result, warnings } = repaired({
    segments: [
      { start: 1, end: 2 },
      { start: 2, end: 3 },
    ],
  });
  expect(result.segments.length).toBe(1);
  expect(warnings).toEqual(["Segments that touch were joined: 2 in the plan, 1 in the cut."]);
});

test("every planned cut stays the same, and a repaired plan too", () => {
  const bounds = fc.array(fc.integer({ min: 0, max: 10 * SECOND }), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(bounds, fc.constantFrom(audio, video), (times, media) => {
      const sorted = times.toSorted((a, b) => a - b);
      const spans = sorted.flatMap((start, i) => {
        const end = sorted[i + 1];
        return i % 2 === 1 || end === undefined || end === start
          ? []
          : [{ start, end, text: `${start}`, review: null }];
      });
      fc.pre(spans.length > 0);
      const clock: SourceClock = { duration: 10 * SECOND, frames: media.frames };
      const segments = toSegments(spans, clock);
      const computed = planToJson({
        sourceDuration: clock.duration,
        keptDuration: segments.reduce((sum, { start, end }) => sum + end - start, 0),
        frameRate: media.frames?.rate ?? null,
        segments,
        removed: listRemovedSpans(segments, [], clock.duration, 0).map((span) => ({ ...span, rule: "pause.long" })),
        takes: [],
        missing: [],
        warnings: [],
        language: null,
        findings: [],
      });
      expect(repaired(computed, media, []).plan).toEqual(computed);
    }),
  );
});
