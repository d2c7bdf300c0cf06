/** Analyzes samples once, so that they can be cut repeatedly. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";
import type { ProbedMedia } from "../../../src/domain/media";
import { CUT_MODES, type CutOptions, type Plan } from "../../../src/domain/plan";
import type { SpeechQuery, SpeechReply, StagedPlan } from "../../../src/domain/planning/context";
import type { SpeechAnalysis } from "../../../src/domain/speech";
import { fromSeconds, toSeconds } from "../../../src/domain/time";
import { analyze } from "../../../src/speech/analyze";
import { forcedAlign } from "../../../src/speech/forced-alignment";
import { loadMoonshine } from "../../../src/speech/moonshine";
import { openAnalysisAudio, type PcmReader } from "../../../src/speech/pcm";
import { recognizeWindows } from "../../../src/speech/recognition";
import { NO_LOG } from "../../../src/speech/record-log";
import { loadVoiceDetector } from "../../../src/speech/vad";
import { compareAudio } from "../../../src/work/cuts/audio-comparer";
import { planCut } from "../../../src/work/cuts/plan-cut";
import { measureVoices } from "../../../src/work/cuts/voice-meter";
import { toPcmBytes } from "../speech/material";
import type { Span } from "./score";

const GRAPHS = join(import.meta.dir, "../../../dist/assets/speech");
const FRAME_RATE = { num: 30, den: 1 };
const RATE = 16_000;
const noop = () => {};

/** Answers the queries of a planner about one recording. */
export type AnswerQuery = (query: SpeechQuery) => Promise<SpeechReply>;
export type Models = {
  analyze: (pcm: PcmReader) => Promise<SpeechAnalysis>;
  /** Opens the audio of a recording to answer queries about it. */
  openEngine: (pcm: PcmReader, path: string) => AnswerQuery;
};
export type AnalyzedRecording = {
  analysis: SpeechAnalysis;
  cut: (script: string) => Promise<StagedPlan>;
  close: () => Promise<void>;
};
export type RecordingAnalyzer = {
  analyze: (name: string, samples: Float32Array) => Promise<AnalyzedRecording>;
  close: () => Promise<void>;
};

export const openPcm = (path: string): Promise<PcmReader> => openAnalysisAudio({ path });

/** Loads the models for voice activity and speech. */
export async function openModels(): Promise<Models> {
  await prepareSpeechGraphs(GRAPHS);
  const models = { detector: await loadVoiceDetector(GRAPHS), moonshine: await loadMoonshine(GRAPHS) };
  return {
    analyze: (pcm) => analyze(models, pcm, "en", { check: noop, onProgress: noop, log: NO_LOG }),
    openEngine: (pcm, path) => {
      const windows = { moonshine: models.moonshine, pcm, cache: new Map(), recording: path };
      return async (query) => {
        switch (query.kind) {
          case "align":
            return { kind: "align", results: await forcedAlign(windows, query.requests, noop) };
          case "recognize":
            return { kind: "recognize", results: await recognizeWindows(windows, query.requests, noop) };
          case "measure_voice":
            return { kind: "measure_voice", results: await measureVoices({ path }, query.requests) };
          case "compare_audio":
            return { kind: "compare_audio", results: await compareAudio({ path }, query.requests) };
        }
      };
    },
  };
}

/** Plans a cut of a video at 30 frames per second. */
export function planSamples(
  analysis: SpeechAnalysis,
  sampleCount: number,
  script: string,
  options: CutOptions,
  answer: AnswerQuery,
): Promise<StagedPlan> {
  const duration = fromSeconds(sampleCount / RATE);
  const count = Math.floor((sampleCount / RATE) * FRAME_RATE.num);
  const probed = {
    info: { type: "video" as const, demuxer: "mov", duration, startPts: 0, video: null, audio: [], timecode: null },
    frames: { kind: "constant" as const, rate: FRAME_RATE, first: 0, count },
  };
  return planProbed(analysis, probed, script, options, answer);
}

/** Plans a cut of a recording. */
export function planProbed(
  analysis: SpeechAnalysis,
  probed: ProbedMedia,
  script: string,
  options: CutOptions,
  answer: AnswerQuery,
): Promise<StagedPlan> {
  const ask = async <Kind extends SpeechQuery["kind"]>(
    kind: Kind,
    requests: Extract<SpeechQuery, { kind: Kind }>["requests"],
  ) => (await answer({ kind, requests } as SpeechQuery)).results as Extract<SpeechReply, { kind: Kind }>["results"];
  return planCut({
    analysis,
    probed,
    script,
    options,
    forcedAlign: (requests) => ask("align", requests),
    recognize: (requests) => ask("recognize", requests),
    measureVoices: (spans) => ask("measure_voice", spans),
    compareAudio: (pairs) => ask("compare_audio", pairs),
    language: "en",
  });
}

/** Loads the models. `analyze` analyzes samples once; `cut` cuts them as a video at 30 frames per second. */
export async function openAnalyzer(): Promise<RecordingAnalyzer> {
  const models = await openModels();
  const scratch = await mkdtemp(join(tmpdir(), "offcut-cut-quality-"));
  return {
    close: () => rm(scratch, { recursive: true, force: true }),
    analyze: async (name, samples) => {
      const path = join(scratch, `${name.replace(/\W+/g, "-")}.pcm`);
      await writeFile(path, toPcmBytes(samples));
      const pcm = await openPcm(path);
      const analysis = await models.analyze(pcm);
      const answer = models.openEngine(pcm, path);
      const cut = (script: string) => planSamples(analysis, samples.length, script, CUT_MODES.natural, answer);
      return { analysis, cut, close: () => pcm.close() };
    },
  };
}

export function toSpans(plan: Plan): Span[] {
  return plan.segments.map((segment) => ({ start: toSeconds(segment.start), end: toSeconds(segment.end) }));
}
