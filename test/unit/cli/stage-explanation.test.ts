import { expect, test } from "bun:test";
import { explainStages, listThresholds } from "../../../src/cli/plan-explanation";
import { CUT_MODES } from "../../../src/domain/plan";
import { STAGE_THRESHOLDS } from "../../../src/domain/planning/thresholds";
import { fromSeconds } from "../../../src/domain/time";
import { planCut } from "../../../src/work/cuts/plan-cut";
import { createRecording } from "../work/cuts/test-recording";

test("the stages show the words that each of them removes and keeps", async () => {
  const recording = createRecording(1, "Turn the", 0.8, "Turn the key now.", 1);
  const plan = await planCut({
    analysis: recording.analysis,
    probed: {
      info: {
        type: "audio",
        demuxer: "wav",
        duration: recording.analysis.duration,
        startPts: 0,
        video: null,
        audio: [],
        timecode: null,
      },
      frames: null,
    },
    script: "",
    options: CUT_MODES.natural,
    forcedAlign: recording.forcedAlign,
    recognize: recording.recognize,
    measureVoices: recording.measureVoices,
    compareAudio: recording.compareAudio,
    language: "en",
  });
  const stages = plan.listStages();
  expect(stages.map(({ stage }) => stage)).toContain("best takes");
  const lines = explainStages(stages);
  const at = lines.indexOf("retakes: 2 words removed, 0 kept");
  expect(lines[at + 1]).toMatch(/^ {2}- 00:0\d\.\d{3}–00:0\d\.\d{3} Turn the$/);
});

test("words that are close are shown together, others apart", () => {
  const word = (text: string, start: number) => ({
    text,
    start: fromSeconds(start),
    end: fromSeconds(start + 0.3),
    isKept: true,
  });
  const change = { stage: "path", removed: [], kept: [word("far", 9), word("one", 1), word("two", 1.4)] };
  expect(explainStages([change])).toEqual([
    "path: 0 words removed, 3 kept",
    "  + 00:01.000–00:01.700 one two",
    "  + 00:09.000–00:09.300 far",
  ]);
});

test("every threshold is listed with its value and what it separates", () => {
  const lines = listThresholds();
  expect(lines).toHaveLength(STAGE_THRESHOLDS.reduce((sum, { values }) => sum + Object.keys(values).length, 0));
  expect(lines).toContain(
    "fillers.minConfidence 0.2 confidence: words that a second recognition finds in other sounds",
  );
});
