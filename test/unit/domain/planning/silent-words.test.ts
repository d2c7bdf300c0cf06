import { expect, test } from "bun:test";
import { fromSeconds } from "../../../../src/domain/time";
import { planCut } from "../../../../src/work/cuts/plan-cut";
import { createRecording } from "../../work/cuts/test-recording";
import { audioPlanInput } from "./plan-input";

test.each([
  ["without a script", ""],
  ["with a script", "We often walk about the harbor before noon.\nThank you."],
])("%s, a filler whose word is in the silence after it is removed where it is heard", async (_, script) => {
  const recording = createRecording(
    1,
    "we often walk",
    0.5,
    "ummmm",
    0.5,
    "about the harbor before noon",
    1,
    "thank you",
  );
  const input = audioPlanInput(recording);
  const [walk, filler] = [recording.findWord("walk"), recording.findWord("ummmm")];
  const transcript = structuredClone(input.analysis.transcript!);
  const [, , before, written] = transcript.words;
  before!.end = filler.end - fromSeconds(0.05);
  Object.assign(written!, { text: "um", start: filler.end + fromSeconds(0.02), end: filler.end + fromSeconds(0.22) });
  const { segments, removed } = await planCut({ ...input, script, analysis: { ...input.analysis, transcript } });
  const fillers = removed.filter(({ reason }) => reason === "filler");
  expect(fillers.map(({ text }) => text)).toEqual(["um"]);
  expect(fillers[0]!.start).toBeLessThanOrEqual(filler.start);
  expect(fillers[0]!.end).toBeGreaterThanOrEqual(filler.end);
  expect(segments[0]!.end).toBeWithin(walk.end, filler.start);
});
