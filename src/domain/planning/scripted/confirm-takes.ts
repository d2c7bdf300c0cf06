/** Stage 8: aligns the path's takes for exact word times, and drops takes that do not match their line. */
import type { ForcedAlignment } from "../../speech";
import type { Span } from "../../time";
import { findBestAlignment, isUsableAlignment } from "../alignments";
import { type PlanSteps, requestAlignments } from "../context";
import type { RuleMatch } from "../rules";
import { listDifferingWords } from "./differing-takes";
import {
  classifyFit,
  discountClipping,
  type LineCandidate,
  rateAlignment,
  SIMILARITY_WEIGHT,
  toAlignmentRequests,
  toLineWindow,
} from "./line-candidates";
import { type PathTake, toSkippedSpan } from "./path-takes";
import type { ScriptedRecording } from "./scripted-recording";

/** The kept take of a line. `mute`: dropped parts of `window`. `alignment` is null if it could not be aligned. */
export type ConfirmedTake = PathTake & {
  window: Span;
  mute: Span[];
  alignment: ForcedAlignment | null;
  /** The line is spoken here, so `alignment` has the exact times of its words. */
  isAligned: boolean;
  quality: number;
  complete: boolean;
  review: RuleMatch<"review.differs_from_script"> | null;
};

/** Below the first similarity, a take that does not align is dropped; below the second, it hardly matches its line. */
export const MIN_SIMILARITY = 0.4;
export const MIN_SURE_SIMILARITY = 0.65;
/** A take that does not align is marked for review below this similarity. */
const MIN_SIMILARITY_WITHOUT_REVIEW = 0.8;
const ALIGNED_SIMILARITY_WEIGHT = 0.6;

/** Returns whether a take hardly resembles its line, by text and audio: a few matching words may be a coincidence. */
export const isWeak = (take: ConfirmedTake): boolean => !take.isAligned && take.score < MIN_SURE_SIMILARITY;

/** Returns the confirmed take of each line; null for lines that were not spoken. */
export function* confirmTakes(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  recording: ScriptedRecording,
): PlanSteps<(ConfirmedTake | null)[]> {
  const { tokens, activity, lines } = recording;
  const trials = takes.map((take) => {
    if (!take) return null;
    const window = toLineWindow(take, tokens, activity);
    const mute = take.skipped.map((range) => toSkippedSpan(range, tokens));
    const known = candidates[take.line]!.find(
      (one) => mute.length === 0 && one.window.start === window.start && one.window.end === window.end,
    );
    return { take, window, mute, known, requests: known ? [] : toAlignmentRequests(lines[take.line]!, window, mute) };
  });
  const results = yield* requestAlignments(trials.flatMap((trial) => trial?.requests ?? []));
  let at = 0;
  return trials.map((trial) => {
    if (!trial) return null;
    const { take, window, mute, known, requests } = trial;
    const alignment = known ? known.alignment : findBestAlignment(results.slice(at, at + requests.length));
    at += requests.length;
    return confirmTake({ ...take, window, mute, alignment }, recording);
  });
}

function confirmTake(
  take: PathTake & Pick<ConfirmedTake, "window" | "mute" | "alignment">,
  recording: ScriptedRecording,
): ConfirmedTake | null {
  const { activity, lines } = recording;
  const alignment = isUsableAlignment(take.alignment) ? take.alignment : null;
  const fit = alignment ? classifyFit(alignment, activity) : "none";
  const isAligned = fit !== "none";
  if (!isAligned && take.score < MIN_SIMILARITY) return null;
  const last = take.pairs[take.pairs.length - 1]!;
  const quality = alignment
    ? Math.max(rateAlignment(alignment, fit), ALIGNED_SIMILARITY_WEIGHT * take.score)
    : SIMILARITY_WEIGHT * Math.max(0, take.score);
  const differs = take.differs || (alignment !== null && listDifferingWords(take, recording).length > 0);
  const isSure = !differs && (isAligned || take.score >= MIN_SIMILARITY_WITHOUT_REVIEW);
  return {
    ...take,
    isAligned,
    quality: discountClipping(quality, activity, take.window),
    complete: isAligned || last >= 0,
    review: isSure ? null : differsFromScript(lines[take.line]!.text, take.score, alignment),
  };
}

/** Returns the rule that marks a take that differs from its line. */
export const differsFromScript = (
  line: string,
  similarity: number,
  alignment: ForcedAlignment | null,
): RuleMatch<"review.differs_from_script"> => ({
  rule: "review.differs_from_script",
  scores: { line, similarity: Math.max(0, similarity), alignment: alignment?.meanLogProb ?? null },
});
