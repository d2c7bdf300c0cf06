import { expect, test } from "bun:test";
import { drawTimeline, formatClock, formatRemovedTable, summarizePlan } from "../../../src/cli/plan-report";
import type { PlanJson } from "../../../src/domain/plan-json";

const segment = (start: number, end: number, review: string | null = null) => ({
  start,
  end,
  start_frame: null,
  end_frame: null,
  text: "kept words",
  review,
});

const plan: PlanJson = {
  source_duration: 100,
  kept_duration: 70,
  frame_rate: null,
  segments: [segment(10, 40), segment(50, 90, "two takes are alike")],
  removed: [
    { start: 0, end: 10, reason: "silence", rule: "pause.leading", text: "" },
    { start: 40, end: 50, reason: "retake", rule: "stutter.word", text: "said\u001b[2J twice" },
    { start: 90, end: 100, reason: "off_script", rule: "off_script.no_line", text: `aside ${"long ".repeat(30)}` },
  ],
  takes: [],
  missing: ["A line that nobody said."],
  warnings: ["loud noise"],
};

test("times are printed like a clock", () => {
  expect([0, 9.96, 62.34, 3_723.44].map(formatClock)).toEqual(["0:00.0", "0:10.0", "1:02.3", "1:02:03.4"]);
});

test("the drawing shows what each part of the recording became, with a legend", () => {
  expect(drawTimeline(plan, 10)).toEqual(["·███r████o", "█ kept  · silence  r retake  o off script"]);
});

test("each cell shows what most of its time became", () => {
  expect(drawTimeline(plan, 4)[0]).toBe("████");
  expect(drawTimeline(plan, 3)[0]).toHaveLength(3);
});

test("the table has a row for each removed span, without control characters and shortened", () => {
  const [head, silence, retake, aside] = formatRemovedTable(plan);
  expect(head).toBe("  from      to  length  reason      text");
  expect(silence).toBe("0:00.0  0:10.0  10.0 s  silence");
  expect(retake).toBe("0:40.0  0:50.0  10.0 s  retake      said [2J twice");
  expect(aside).toEndWith("…");
  expect(aside!.length).toBeLessThan(100);
});

test("warnings are never shortened", () => {
  const warning = `No speech model knows this language: ${"and so on ".repeat(20)}`.trim();
  expect(summarizePlan({ ...plan, warnings: [warning] })).toContain(`note: ${warning}`);
});

test("the summary counts reasons and lists everything an editor should check", () => {
  expect(summarizePlan(plan)).toEqual([
    "1:40.0 -> 1:10.0, 30.0 s (30%) removed",
    "removed: silence 1 (10.0 s), retake 1 (10.0 s), off script 1 (10.0 s)",
    "not found in the recording: A line that nobody said.",
    "check 0:50.0-1:30.0: two takes are alike",
    "note: loud noise",
  ]);
});
