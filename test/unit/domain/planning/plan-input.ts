/** The input of `planCut` for a synthetic recording of audio, without a script. */
import { CUT_MODES } from "../../../../src/domain/plan";
import type { PlanCutInput } from "../../../../src/work/cuts/plan-cut";
import type { TestRecording } from "../../work/cuts/test-recording";

export function audioPlanInput(recording: TestRecording): PlanCutInput {
  const { analysis, forcedAlign, recognize, measureVoices, compareAudio } = recording;
  const { duration } = analysis;
  const info = {
    type: "audio" as const,
    demuxer: "wav",
    duration,
    startPts: 0,
    video: null,
    audio: [],
    timecode: null,
  };
  const options = CUT_MODES.natural;
  return {
    analysis,
    probed: { info, frames: null },
    script: "",
    options,
    forcedAlign,
    recognize,
    measureVoices,
    compareAudio,
    language: "en",
  };
}
