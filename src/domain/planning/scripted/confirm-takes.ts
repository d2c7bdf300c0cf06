/** Stage 8: aligns the path's takes for exact word times, and drops takes that do not match their line. */

import type { AlignedWord, ForcedAlignment, Word } from "../../speech";
import { measureWordDistance } from "../../text/normalize";
import type { Span } from "../../time";
import { findBestAlignment, isUsableAlignment, type PlanSteps, requestAlignments } from "../context";
import { isFillerText } from "../lexicon/lexicon";
import type { RuleMatch } from "../rules";
import { overlapDuration } from "../spans";
import {
  discountClipping,
  isSpokenLine,
  type LineCandidate,
  rateAlignment,
  toAlignmentRequests,
  toLineWindow,
} from "./line-candidates";
import { type PathTake, toSkippedSpan } from "./path-takes";
import type { ScriptedRecording } from "./scripted-recording";
import { SCRIPT } from "./thresholds";

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

/** Returns whether a take hardly resembles its line, by text and audio: a few matching words may be a coincidence. */
export const isWeak = (take: ConfirmedTake): boolean => !take.isAligned && take.score < SCRIPT.minSureSimilarity;

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
  const isAligned = alignment !== null && isSpokenLine(alignment);
  const last = take.pairs[take.pairs.length - 1]!;
  const quality = Math.max(0, alignment ? rateAlignment(alignment) : 0, take.score);
  const differs = take.differs || (alignment !== null && listDifferingWords(take, recording).length > 0);
  const isSure = !differs && (isAligned || take.score >= SCRIPT.sureSimilarity);
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

type AlignedTake = PathTake & { alignment: ForcedAlignment | null };

/** Returns the words of a take's line that are not spoken where they align. */
export const listUnspokenWords = ({ alignment }: AlignedTake): AlignedWord[] =>
  alignment?.words.filter((word) => word.logProb < SCRIPT.minWord) ?? [];

/** Returns the words of a take that are said in place of other words of its line, which do not align there. */
export function listDifferingWords(take: AlignedTake, { tokens, words, lines, lexicon }: ScriptedRecording): Word[] {
  const lineWords = lines[take.line]!.words;
  const lineWordOf = new Map([...take.pairs].map((token, k) => [token, lineWords[k]!]));
  const out: Word[] = [];
  let hasLost = false;
  for (let j = take.from; j < take.to; j++) {
    const matched = lineWordOf.get(j);
    if (matched !== undefined) hasLost = take.pairs[take.pairs.indexOf(j) + 1] === -1;
    else if (j === take.from) hasLost = take.pairs[0] === -1;
    const isOther = matched === undefined ? hasLost : measureWordDistance(matched, tokens[j]!.normal) >= 1;
    const word = words[tokens[j]!.word]!;
    const aligns = take.alignment?.words.some((own) => own.logProb >= SCRIPT.minWord && overlapDuration(own, word) > 0);
    if (isOther && !aligns && word.text !== "" && !isFillerText(word.text, lexicon)) out.push(word);
  }
  return out;
}
