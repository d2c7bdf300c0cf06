/** A recording of ten seconds with three words, and a cut that removes the second. */
import type { PlanJson } from "../../../src/domain/plan-json";
import type { Word } from "../../../src/domain/speech";

export const SECOND = 1_000_000;

const word = (text: string, start: number): Word => ({
  text,
  start: start * SECOND,
  end: (start + 0.5) * SECOND,
  confidence: 0.9,
});

export const words = [word("one", 1), word("two", 3), word("three", 5)];

/** Returns the plan of the cut at a constant frame rate. */
export const createPlan = (framesPerSecond: number): PlanJson => ({
  source_duration: 10,
  kept_duration: 2,
  frame_rate: { num: framesPerSecond, den: 1 },
  segments: [
    { start: 1, end: 2, start_frame: framesPerSecond, end_frame: 2 * framesPerSecond, text: "one", review: "Check." },
    { start: 5, end: 6, start_frame: 5 * framesPerSecond, end_frame: 6 * framesPerSecond, text: "three", review: null },
  ],
  removed: [
    { start: 0, end: 1, reason: "silence", rule: "pause.leading", text: "" },
    { start: 2, end: 5, reason: "retake", rule: "false_start.prefix", text: "two" },
    { start: 6, end: 10, reason: "silence", rule: "pause.trailing", text: "" },
  ],
  takes: [],
  missing: ["a line"],
  warnings: ["A warning."],
  language: "en",
});
