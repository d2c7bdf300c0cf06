import { expect, test } from "bun:test";
import type { Plan } from "../../../src/domain/plan";
import { planToJson } from "../../../src/domain/plan-json";

test("a plan is shown in seconds, with the names of the API", () => {
  const plan: Plan = {
    sourceDuration: 10_000_001,
    keptDuration: 1_500_000,
    frameRate: { num: 30_000, den: 1_001 },
    segments: [{ start: 1_001_000, end: 2_501_000, startFrame: 30, endFrame: 75, text: "Hello.", review: null }],
    removed: [{ start: 0, end: 1_001_000, reason: "silence", rule: "pause.leading", text: "" }],
    takes: [
      { line: "Hello.", chosen: 0, candidates: [{ start: 1_100_000, end: 2_400_000, score: 0.9, complete: true }] },
    ],
    missing: ["Bye."],
    warnings: [],
    language: "en",
    findings: [],
  };
  expect(JSON.parse(JSON.stringify(planToJson(plan)))).toEqual({
    source_duration: 10.000001,
    kept_duration: 1.5,
    frame_rate: { num: 30_000, den: 1_001 },
    segments: [{ start: 1.001, end: 2.501, start_frame: 30, end_frame: 75, text: "Hello.", review: null }],
    removed: [{ start: 0, end: 1.001, reason: "silence", rule: "pause.leading", text: "" }],
    takes: [{ line: "Hello.", chosen: 0, candidates: [{ start: 1.1, end: 2.4, score: 0.9, complete: true }] }],
    missing: ["Bye."],
    warnings: [],
    language: "en",
  });
});

test("times have at most six decimals", () => {
  for (const ticks of [1, 333_333, 1_000_001, 86_400_000_001]) {
    const { source_duration } = planToJson({
      sourceDuration: ticks,
      keptDuration: 0,
      frameRate: null,
      segments: [],
      removed: [],
      takes: [],
      missing: [],
      warnings: [],
      language: null,
      findings: [],
    });
    expect(String(source_duration)).toMatch(/^(?:\d+(?:\.\d{1,6})?|1e-6)$/);
  }
});
