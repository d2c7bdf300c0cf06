/** Plans a cut: which parts of a recording are kept. `domain/planning` decides; this file runs the alignments that it asks for. */

import { AppError } from "../domain/errors";
import { getPlanFrameRate, type ProbedMedia } from "../domain/media";
import type { CutOptions, Plan } from "../domain/plan";
import type { PlanSteps } from "../domain/planning/context";
import { planScripted } from "../domain/planning/scripted/plan-scripted";
import { parseScript } from "../domain/planning/scripted/script-lines";
import { planUnscripted } from "../domain/planning/unscripted/plan-unscripted";
import type { AlignmentRequest, ForcedAlignment, SpeechAnalysis } from "../domain/speech";

export type PlanCutInput = {
  analysis: SpeechAnalysis;
  probed: ProbedMedia;
  /** Empty, or without words, when there is no script. */
  script: string;
  options: CutOptions;
  /** Aligns texts with parts of the recording. Returns the results in the order of the requests. */
  forcedAlign: (requests: AlignmentRequest[]) => Promise<ForcedAlignment[]>;
  language: string | null;
};

/**
 * Returns the plan of a cut. Errors: `AppError` `no_speech`, `transcription_unavailable` (a script, but no transcript), `script_mismatch`
 * (the recording does not contain the script).
 */
export async function planCut(input: PlanCutInput): Promise<Plan> {
  const { analysis, probed, options } = input;
  const language = input.language ?? analysis.transcript?.language ?? null;
  const lines = parseScript(input.script, language);
  if (analysis.speech.length === 0 && (analysis.transcript?.words.length ?? 0) === 0) {
    throw new AppError("no_speech", "Recording contains no speech.");
  }
  const clock = { duration: probed.info.duration, frames: probed.frames };
  const frameRate = getPlanFrameRate(probed);
  const context = { analysis, clock, frameRate, options, language };
  const forcedAlign = analysis.transcript?.forcing === false ? alignNothing : input.forcedAlign;
  if (lines.length === 0) return runPlanner(planUnscripted(context), forcedAlign);
  if (!analysis.transcript) {
    throw new AppError(
      "transcription_unavailable",
      "No installed speech model supports the language of the recording.",
    );
  }
  const plan = await runPlanner(planScripted({ ...context, lines, transcript: analysis.transcript }), forcedAlign);
  if (plan === "mismatch") {
    throw new AppError("script_mismatch", "Script does not match the speech in the recording.");
  }
  return plan;
}

/** The result for a recognizer without forced alignment. The planner then relies on the text alone. */
const alignNothing: PlanCutInput["forcedAlign"] = async (requests) =>
  requests.map(() => ({ words: [], meanLogProb: Number.NEGATIVE_INFINITY, tailLogProb: Number.NEGATIVE_INFINITY }));

/** Runs a planner and feeds it the alignments that it asks for. */
async function runPlanner<Result>(steps: PlanSteps<Result>, forcedAlign: PlanCutInput["forcedAlign"]): Promise<Result> {
  let step = steps.next();
  while (!step.done) {
    const requests = step.value;
    // A planner yields without requests so that other work can run: its steps take a while on hours of speech.
    if (requests.length === 0) await new Promise(setImmediate);
    step = steps.next(requests.length === 0 ? [] : await forcedAlign(requests));
  }
  return step.value;
}
