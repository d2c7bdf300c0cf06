/** Holds the takes that the path found against the sound, so that their words have exact times, and lets go of what is not the line. */

import type { ForcedAlignment } from "../../speech";
import type { Span } from "../../time";
import { bestForced, usable } from "../alignments";
import type { Sound } from "../audio-activity";
import type { PlanSteps } from "../context";
import { fitOf, type LineCandidate, qualityOf, readingsOf, unclipped, windowOf } from "./line-candidates";
import { type LineTake, skippedSpan } from "./path-takes";
import type { Hearing } from "./scripted-input";

/** A kept take. `mute`: stretches inside `window` that are not kept. `forced` null: it could not be held against the sound. */
export type SpokenLine = LineTake & {
  window: Span;
  mute: Span[];
  forced: ForcedAlignment | null;
  /** The sound agrees, so that `forced` has the exact times of the words. */
  fitting: boolean;
  quality: number;
  complete: boolean;
  review: string | null;
};

const LEAST_SCORE = 0.4;
const SURE_SCORE = 0.65;

/** A take whose words hardly resemble the line, and whose sound does not agree: perhaps only a few words met by chance. */
export const isWeak = (take: SpokenLine): boolean => !take.fitting && take.score < SURE_SCORE;

/** Confirms the take of each line; null for the lines that were not spoken. */
export function* confirmTakes(
  takes: readonly (LineTake | null)[],
  candidates: readonly LineCandidate[][],
  { heard, sound, lines }: Hearing,
): PlanSteps<(SpokenLine | null)[]> {
  const asked = takes.map((take) => {
    if (!take) return null;
    const window = windowOf(take, heard, sound);
    const mute = take.skipped.map((run) => skippedSpan(run, heard));
    const known = candidates[take.line]!.find(
      (one) => mute.length === 0 && one.window.start === window.start && one.window.end === window.end,
    );
    return { take, window, mute, known, requests: known ? [] : readingsOf(lines[take.line]!, window, mute) };
  });
  const answers = yield asked.flatMap((one) => one?.requests ?? []);
  let at = 0;
  return asked.map((one) => {
    if (!one) return null;
    const forced = one.known ? one.known.forced : bestForced(answers.slice(at, at + one.requests.length));
    at += one.requests.length;
    return spokenLine(one.take, one.window, one.mute, forced, sound);
  });
}

function spokenLine(
  take: LineTake,
  window: Span,
  mute: Span[],
  forced: ForcedAlignment | null,
  sound: Sound,
): SpokenLine | null {
  const fit = usable(forced) ? fitOf(forced, sound) : "none";
  const fitting = fit !== "none";
  if (!fitting && take.score < LEAST_SCORE) return null;
  const last = take.pairs[take.pairs.length - 1]!;
  const quality = usable(forced) ? Math.max(qualityOf(forced, fit), 0.6 * take.score) : 0.85 * Math.max(0, take.score);
  return {
    ...take,
    window,
    mute,
    forced,
    fitting,
    quality: unclipped(quality, sound, window),
    complete: fitting || last >= 0,
    review: fitting || take.score >= 0.8 ? null : "differs from the script",
  };
}
