/** Plans a cut: which parts of a recording are kept. The deciding is in `domain/`; here the recogniser is asked what the deciding needs. */

import { AppError } from "../domain/errors";
import type { ProbedMedia } from "../domain/media";
import type { CutOptions, Plan } from "../domain/plan";
import type { PlanSteps } from "../domain/planning/context";
import { planScripted } from "../domain/planning/scripted/plan-scripted";
import { parseScript } from "../domain/planning/scripted/script-lines";
import { planUnscripted } from "../domain/planning/unscripted/plan-unscripted";
import type { AlignmentRequest, ForcedAlignment, SpeechAnalysis } from "../domain/speech";

export type PlanCutInput = {
  listening: SpeechAnalysis;
  probed: ProbedMedia;
  /** "" (or nothing in it that can be spoken): no script. */
  script: string;
  options: CutOptions;
  /** Holds texts against stretches of this recording; results in the order of the requests. */
  force: (requests: AlignmentRequest[]) => Promise<ForcedAlignment[]>;
  language: string | null;
};

/**
 * The plan of a cut. Errors: `AppError` `no_speech` (nothing is spoken), `transcription_unavailable` (a script, but no transcript),
 * `script_mismatch` (the script is not spoken here).
 */
export async function planCut(input: PlanCutInput): Promise<Plan> {
  const { listening, probed, options } = input;
  const language = input.language ?? listening.transcript?.language ?? null;
  const lines = parseScript(input.script, language);
  if (listening.speech.length === 0 && (listening.transcript?.words.length ?? 0) === 0) {
    throw new AppError("no_speech", "Nothing is spoken in this recording.");
  }
  const clock = { duration: probed.info.duration, frames: probed.frames };
  const frameRate = probed.frames ? (probed.info.video?.frameRate ?? probed.frames.rate) : null;
  const context = { listening, clock, frameRate, options, language };
  const force = listening.transcript?.forcing === false ? unforced : input.force;
  if (lines.length === 0) return runPlanner(planUnscripted(context), force);
  if (!listening.transcript) {
    throw new AppError("transcription_unavailable", "No speech model here knows the language of this recording.");
  }
  const plan = await runPlanner(planScripted({ ...context, lines, transcript: listening.transcript }), force);
  if (plan === "mismatch") {
    throw new AppError("script_mismatch", "The script is not what is spoken in this recording.");
  }
  return plan;
}

/** The answers of a recogniser that cannot force: the planner then goes by the text alone. */
const unforced: PlanCutInput["force"] = async (requests) =>
  requests.map(() => ({ words: [], meanLogProb: Number.NEGATIVE_INFINITY, tailLogProb: Number.NEGATIVE_INFINITY }));

/** Runs a planner, answering each of its questions. */
async function runPlanner<Result>(steps: PlanSteps<Result>, force: PlanCutInput["force"]): Promise<Result> {
  let step = steps.next();
  while (!step.done) {
    const requests = step.value;
    // Without a question a planner only gives way: over hours of speech each of its steps takes a while.
    if (requests.length === 0) await new Promise(setImmediate);
    step = steps.next(requests.length === 0 ? [] : await force(requests));
  }
  return step.value;
}
