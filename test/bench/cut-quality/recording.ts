/** Analyzes samples once, so that they can be cut repeatedly. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";
import { CUT_MODES, type Plan } from "../../../src/domain/plan";
import type { SpeechAnalysis } from "../../../src/domain/speech";
import { fromSeconds, toSeconds } from "../../../src/domain/time";
import { analyze } from "../../../src/speech/analyze";
import { forcedAlign } from "../../../src/speech/forced-alignment";
import { loadMoonshine } from "../../../src/speech/moonshine";
import { openAnalysisAudio } from "../../../src/speech/pcm";
import { recognizeWindows } from "../../../src/speech/recognition";
import { NO_LOG } from "../../../src/speech/record-log";
import { loadVoiceDetector } from "../../../src/speech/vad";
import { planCut } from "../../../src/work/cuts/plan-cut";
import { measureVoices } from "../../../src/work/cuts/voice-meter";
import { toPcmBytes } from "../speech/material";
import type { Span } from "./score";

const GRAPHS = join(import.meta.dir, "../../../dist/assets/speech");
const FRAME_RATE = { num: 30, den: 1 };
const RATE = 16_000;
const noop = () => {};

export type AnalyzedRecording = {
  analysis: SpeechAnalysis;
  cut: (script: string) => Promise<Plan>;
  close: () => Promise<void>;
};
export type RecordingAnalyzer = {
  analyze: (name: string, samples: Float32Array) => Promise<AnalyzedRecording>;
  close: () => Promise<void>;
};

/** Loads the models. `analyze` analyzes samples once; `cut` cuts them as a video at 30 frames per second. */
export async function openAnalyzer(): Promise<RecordingAnalyzer> {
  await prepareSpeechGraphs(GRAPHS);
  const models = { detector: await loadVoiceDetector(GRAPHS), moonshine: await loadMoonshine(GRAPHS, 2) };
  const scratch = await mkdtemp(join(tmpdir(), "offcut-cut-quality-"));
  return {
    close: () => rm(scratch, { recursive: true, force: true }),
    analyze: async (name, samples) => {
      const path = join(scratch, `${name.replace(/\W+/g, "-")}.pcm`);
      await writeFile(path, toPcmBytes(samples));
      const pcm = await openAnalysisAudio({ path });
      const analysis = await analyze(models, pcm, "en", { check: noop, onProgress: noop, log: NO_LOG });
      const windows = { moonshine: models.moonshine, pcm, cache: new Map(), recording: path };
      const duration = fromSeconds(samples.length / RATE);
      const count = Math.floor((samples.length / RATE) * FRAME_RATE.num);
      const probed = {
        info: { type: "video" as const, demuxer: "mov", duration, startPts: 0, video: null, audio: [], timecode: null },
        frames: { kind: "constant" as const, rate: FRAME_RATE, first: 0, count },
      };
      const cut = (script: string) =>
        planCut({
          analysis,
          probed,
          script,
          options: CUT_MODES.natural,
          forcedAlign: (requests) => forcedAlign(windows, requests, noop),
          recognize: (requests) => recognizeWindows(windows, requests, noop),
          measureVoices: (spans) => measureVoices({ path }, spans),
          language: "en",
        });
      return { analysis, cut, close: () => pcm.close() };
    },
  };
}

export function toSpans(plan: Plan): Span[] {
  return plan.segments.map((segment) => ({ start: toSeconds(segment.start), end: toSeconds(segment.end) }));
}
