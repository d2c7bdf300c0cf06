/** Plans the cut of a synthetic recording, as an audio file. */
import { AppError } from "../../../../src/domain/errors";
import type { ProbedMedia } from "../../../../src/domain/media";
import { CUT_MODES, type CutOptions, type Plan } from "../../../../src/domain/plan";
import { planCut } from "../../../../src/work/cuts/plan-cut";
import type { TestRecording } from "./test-recording";

const audio = (duration: number): ProbedMedia => ({
  info: { type: "audio", demuxer: "wav", duration, startPts: 0, video: null, audio: [], timecode: null },
  frames: null,
});

export const cutRecording = (recording: TestRecording, script = "", options: Partial<CutOptions> = {}): Promise<Plan> =>
  planCut({
    analysis: recording.analysis,
    probed: audio(recording.analysis.duration),
    script,
    options: { ...CUT_MODES.natural, ...options },
    forcedAlign: recording.forcedAlign,
    recognize: recording.recognize,
    measureVoices: recording.measureVoices,
    compareAudio: recording.compareAudio,
    language: recording.analysis.transcript?.language ?? "en",
  });

/** Returns the code of the error that a cut ends with, "none" for a plan. */
export const errorCodeOf = async (plan: Promise<Plan>): Promise<string> =>
  plan.then(
    () => "none",
    (error: unknown) => (error instanceof AppError ? error.code : "other"),
  );
