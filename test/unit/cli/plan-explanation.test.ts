import { expect, test } from "bun:test";
import { describeRecognized, explainPlan } from "../../../src/cli/plan-explanation";
import type { PlanJson } from "../../../src/domain/plan-json";
import { formatTime } from "../../../src/domain/planning/explain-rules";
import type { Finding } from "../../../src/domain/planning/rules";
import { fromSeconds, type Span } from "../../../src/domain/time";

const spanOf = (start: number, end: number): Span => ({ start: fromSeconds(start), end: fromSeconds(end) });
const repetition = (similarity: number, alignment: number | null) => ({
  repeatedAt: fromSeconds(15.2),
  pause: fromSeconds(0.4),
  words: 5,
  similarity,
  alignment,
});

const plan: PlanJson = {
  source_duration: 30,
  kept_duration: 20,
  frame_rate: null,
  segments: [
    { start: 2, end: 12.34, start_frame: null, end_frame: null, text: "", review: "maybe a retake" },
    { start: 14, end: 30, start_frame: null, end_frame: null, text: "", review: null },
  ],
  removed: [
    { start: 0, end: 2, reason: "silence", rule: "pause.leading", text: "" },
    { start: 12.34, end: 14, reason: "retake", rule: "false_start.prefix", text: "" },
  ],
  takes: [],
  missing: [],
  warnings: [],
};

test("every removed span and every mark has a line with its rule and scores, in order of time", () => {
  const findings: Finding[] = [
    { ...spanOf(0, 2), rule: "pause.leading", scores: { pause: fromSeconds(2.1), minPause: fromSeconds(0.5) } },
    { ...spanOf(3, 4), rule: "review.different_words", scores: repetition(0.8, null) },
    { ...spanOf(12.4, 13.9), rule: "false_start.prefix", scores: repetition(0.94, -0.81) },
    { ...spanOf(15, 16), rule: "review.list", scores: repetition(1, null) },
  ];
  expect(explainPlan(plan, findings)).toEqual([
    "00:00.000–00:02.000 pause.leading: silence of 2.10 s before the first sound",
    "00:03.000–00:04.000 review.different_words: kept: like 00:15.200 (5 words, similarity 0.80), but with other words",
    "00:12.340–00:14.000 false_start.prefix: said again at 00:15.200 (5 words, similarity 0.94, alignment -0.81)",
  ]);
});

test("a mark that spans two segments has one line, sorted by its own start", () => {
  const marked = plan.segments.map((segment) => ({ ...segment, review: "maybe a retake" }));
  const findings: Finding[] = [
    { ...spanOf(10, 15), rule: "review.list", scores: repetition(1, null) },
    { ...spanOf(12.4, 13.9), rule: "false_start.prefix", scores: repetition(0.94, -0.81) },
  ];
  const lines = explainPlan({ ...plan, segments: marked }, findings);
  expect(lines.map((line) => line.split(": ")[0])).toEqual([
    "00:10.000–00:15.000 review.list",
    "00:12.340–00:14.000 false_start.prefix",
  ]);
});

test("a span that several rules removed has a line for each, with its own times", () => {
  const findings: Finding[] = [
    { ...spanOf(12.4, 13), rule: "stutter.word", scores: repetition(1, null) },
    { ...spanOf(13, 13.9), rule: "false_start.prefix", scores: repetition(1, null) },
  ];
  expect(explainPlan(plan, findings).map((line) => line.split(":").slice(0, 3).join(":"))).toEqual([
    "00:12.400–00:13.000 stutter.word",
    "00:13.000–00:13.900 false_start.prefix",
  ]);
});

test("the text of a script line is shortened and has no control characters", () => {
  const line = `Say \u001b[2J ${"again ".repeat(40)}`;
  const scores = { line, quality: 0.5, keptQuality: null, keptAt: null };
  const [text] = explainPlan(plan, [{ ...spanOf(12.4, 13), rule: "retake.last_good_take", scores }]);
  expect(text).not.toContain("\u001b");
  expect(text).toEndWith("quality 0.50; no take of this line is kept");
  expect(text!.length).toBeLessThan(200);
});

test("times have milliseconds, and hours when there are any", () => {
  expect([0, 12.34, 3_612.3456].map((seconds) => formatTime(fromSeconds(seconds)))).toEqual([
    "00:00.000",
    "00:12.340",
    "1:00:12.346",
  ]);
});

test("the time spent on second recognitions is reported when there were any", () => {
  expect(describeRecognized({ windows: 0, audio_ms: 0, duration_ms: 0 })).toEqual([]);
  expect(describeRecognized({ windows: 3, audio_ms: 13_040, duration_ms: 320 })).toEqual([
    "Recognized 3 places a second time: 13.0 s of audio in 0.3 s.",
  ]);
});
