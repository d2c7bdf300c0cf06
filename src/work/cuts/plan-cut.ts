/**
 * Plans a cut: which parts of a recording are kept. `domain/planning` decides; this file answers its queries to the
 * speech engine.
 */

import { AppError } from "../../domain/errors";
import { findPlanFrameRate, type ProbedMedia } from "../../domain/media";
import type { CutOptions } from "../../domain/plan";
import type { PlanSteps, SpeechQuery, SpeechReply, StagedPlan } from "../../domain/planning/context";
import { planScripted } from "../../domain/planning/scripted/plan-scripted";
import { parseScript } from "../../domain/planning/scripted/script-lines";
import { planUnscripted } from "../../domain/planning/unscripted/plan-unscripted";
import type {
  AlignmentRequest,
  AudioMatch,
  AudioPair,
  ForcedAlignment,
  Recognition,
  RecognitionRequest,
  SpeechAnalysis,
} from "../../domain/speech";
import type { Span } from "../../domain/time";
import type { VoiceFeatures } from "../../domain/voice";
import { yieldToEventLoop } from "../../lib/event-loop";

export type PlanCutInput = {
  analysis: SpeechAnalysis;
  probed: ProbedMedia;
  /** Empty, or without words, for a cut without a script. */
  script: string;
  options: CutOptions;
  /** Aligns texts with parts of the recording. Returns the results in the order of the requests. */
  forcedAlign: (requests: AlignmentRequest[]) => Promise<ForcedAlignment[]>;
  /** Recognizes parts of the recording again. Returns the results in the order of the requests. */
  recognize: (requests: RecognitionRequest[]) => Promise<Recognition[]>;
  /** Measures the voice in parts of the recording. Returns the results in the order of the spans. */
  measureVoices: (spans: Span[]) => Promise<VoiceFeatures[]>;
  /** Compares the audio of takes and retakes. Returns the results in the order of the pairs. */
  compareAudio: (pairs: AudioPair[]) => Promise<(AudioMatch | null)[]>;
  language: string | null;
};

/**
 * Returns the plan of a cut. Errors: `AppError` `no_speech`, `transcription_unavailable` (a script, but no transcript),
 * `script_mismatch` (the recording does not contain the script).
 */
export async function planCut(input: PlanCutInput): Promise<StagedPlan> {
  const { analysis, probed, options } = input;
  const language = input.language ?? analysis.transcript?.language ?? null;
  const lines = parseScript(input.script, language);
  if (analysis.speech.length === 0 && (analysis.transcript?.words.length ?? 0) === 0) {
    throw new AppError("no_speech", "Recording contains no speech.");
  }
  const clock = { duration: probed.info.duration, frames: probed.frames };
  const frameRate = findPlanFrameRate(probed);
  const context = { analysis, clock, frameRate, options, language };
  const engine = {
    forcedAlign: analysis.transcript?.forcing === false ? alignNothing : input.forcedAlign,
    recognize: input.recognize,
    measureVoices: input.measureVoices,
    compareAudio: input.compareAudio,
  };
  if (lines.length === 0) return runPlanner(planUnscripted(context), engine);
  if (!analysis.transcript) {
    throw new AppError(
      "transcription_unavailable",
      "No installed speech model supports the language of the recording.",
    );
  }
  const plan = await runPlanner(planScripted({ ...context, lines, transcript: analysis.transcript }), engine);
  if (plan === "mismatch") {
    throw new AppError("script_mismatch", "Script does not match the speech in the recording.");
  }
  return plan;
}

/** The result for a recognizer without forced alignment. The planner then relies on the text alone. */
const alignNothing: PlanCutInput["forcedAlign"] = async (requests) =>
  requests.map(() => ({ words: [], meanLogProb: Number.NEGATIVE_INFINITY, tailLogProb: Number.NEGATIVE_INFINITY }));

type QueriedEngine = Pick<PlanCutInput, "forcedAlign" | "recognize" | "measureVoices" | "compareAudio">;

/** Runs a planner and answers its queries. */
async function runPlanner<Result>(steps: PlanSteps<Result>, engine: QueriedEngine): Promise<Result> {
  let step = steps.next();
  while (!step.done) step = steps.next(await reply(step.value, engine));
  return step.value;
}

async function reply(query: SpeechQuery | null, engine: QueriedEngine): Promise<SpeechReply | null> {
  switch (query?.kind) {
    case "align":
      return { kind: "align", results: await engine.forcedAlign(query.requests) };
    case "recognize":
      return { kind: "recognize", results: await engine.recognize(query.requests) };
    case "measure_voice":
      return { kind: "measure_voice", results: await engine.measureVoices(query.requests) };
    case "compare_audio":
      return { kind: "compare_audio", results: await engine.compareAudio(query.requests) };
    case undefined:
      // A planner yields null to let other work run: its steps take a while on hours of speech.
      await yieldToEventLoop();
      return null;
  }
}
