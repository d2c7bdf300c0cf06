/** Holds the takes that the path found against the sound, so that their words have exact times, and lets go of what is not the line. */

import type { ForcedAlignment } from "../../speech";
import type { Span } from "../../time";
import { findBestAlignment, isUsableAlignment } from "../alignments";
import type { AudioActivity } from "../audio-activity";
import type { PlanSteps } from "../context";
import {
  classifyFit,
  discountClipping,
  type LineCandidate,
  rateAlignment,
  toAlignmentRequests,
  toWindow,
} from "./line-candidates";
import { type PathTake, skippedSpan } from "./path-takes";
import type { ScriptedInput } from "./scripted-input";

/** A kept take. `mute`: stretches inside `window` that are not kept. `forced` null: it could not be held against the sound. */
export type ConfirmedTake = PathTake & {
  window: Span;
  mute: Span[];
  alignment: ForcedAlignment | null;
  /** The sound agrees, so that `forced` has the exact times of the words. */
  fitting: boolean;
  quality: number;
  complete: boolean;
  review: string | null;
};

const LEAST_SCORE = 0.4;
const SURE_SCORE = 0.65;

/** A take whose words hardly resemble the line, and whose sound does not agree: perhaps only a few words met by chance. */
export const isWeak = (take: ConfirmedTake): boolean => !take.fitting && take.score < SURE_SCORE;

/** Confirms the take of each line; null for the lines that were not spoken. */
export function* confirmTakes(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  { tokens, activity, lines }: ScriptedInput,
): PlanSteps<(ConfirmedTake | null)[]> {
  const asked = takes.map((take) => {
    if (!take) return null;
    const window = toWindow(take, tokens, activity);
    const mute = take.skipped.map((range) => skippedSpan(range, tokens));
    const known = candidates[take.line]!.find(
      (one) => mute.length === 0 && one.window.start === window.start && one.window.end === window.end,
    );
    return { take, window, mute, known, requests: known ? [] : toAlignmentRequests(lines[take.line]!, window, mute) };
  });
  const answers = yield asked.flatMap((one) => one?.requests ?? []);
  let at = 0;
  return asked.map((one) => {
    if (!one) return null;
    const alignment = one.known ? one.known.alignment : findBestAlignment(answers.slice(at, at + one.requests.length));
    at += one.requests.length;
    return spokenLine(one.take, one.window, one.mute, alignment, activity);
  });
}

function spokenLine(
  take: PathTake,
  window: Span,
  mute: Span[],
  alignment: ForcedAlignment | null,
  activity: AudioActivity,
): ConfirmedTake | null {
  const fit = isUsableAlignment(alignment) ? classifyFit(alignment, activity) : "none";
  const fitting = fit !== "none";
  if (!fitting && take.score < LEAST_SCORE) return null;
  const last = take.pairs[take.pairs.length - 1]!;
  const quality = isUsableAlignment(alignment)
    ? Math.max(rateAlignment(alignment, fit), 0.6 * take.score)
    : 0.85 * Math.max(0, take.score);
  return {
    ...take,
    window,
    mute,
    alignment,
    fitting,
    quality: discountClipping(quality, activity, window),
    complete: fitting || last >= 0,
    review: fitting || take.score >= 0.8 ? null : "differs from the script",
  };
}
