import { describe, expect, test } from "bun:test";
import { planCut } from "../../../../../src/work/cuts/plan-cut";
import { createRecording } from "../../../work/cuts/test-recording";
import { audioPlanInput } from "../plan-input";

describe("what another speaker says like a line", () => {
  const recording = createRecording(
    ...[1, "the old market opens at nine", 0.8, "the market opens at eight", 0.8],
    ...["fresh fish is sold there until noon", 0.8, "parking is free on the other side of the river", 1],
  );
  const echo = recording.findWord("old");
  const exact =
    "The market opens at eight. Fresh fish is sold there until noon. Parking is free on the other side of the river.";
  const changed =
    "The market winter at eight. Green fish is there sold until. Parking free on the yellow side of the simple.";

  async function cut(script: string, hasOtherVoice: boolean) {
    const plan = await planCut({
      ...audioPlanInput(recording),
      script,
      measureVoices: async (spans) =>
        spans.map((span) => {
          const isOther = hasOtherVoice && span.start < echo.end + 1_000_000;
          return isOther ? { pitch: 190, level: -22, voiced: 300_000 } : { pitch: 100, level: -29, voiced: 300_000 };
        }),
    });
    const isKept = plan.segments.some(({ start, end }) => start <= echo.start && echo.end <= end);
    return { isKept, plan };
  }

  test("stays and is marked if the script is not read word for word", async () => {
    const { isKept, plan } = await cut(changed, true);
    expect(isKept).toBe(true);
    expect(plan.segments[0]!.review).toBe("maybe a retake");
    expect(plan.findings.map(({ rule }) => rule)).toContain("review.other_speaker");
  });

  test.each([
    ["by the same speaker", changed, false],
    ["by somebody who prompts the speaker of an exact script", exact, true],
  ])("is an earlier take: %s", async (_, script, hasOtherVoice) => {
    const { isKept, plan } = await cut(script, hasOtherVoice);
    expect(isKept).toBe(false);
    expect(plan.removed.map(({ rule }) => rule)).toContain("retake.last_good_take");
  });
});
