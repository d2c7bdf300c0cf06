/**
 * Aligns the path's takes for exact word times, drops takes that do not match their line, and lists the takes among
 * which an editor chooses.
 */

import type { Candidate } from "../../plan";
import type { AlignedWord, ForcedAlignment, Word } from "../../speech";
import { measureWordDistance } from "../../text/normalize";
import { alignWords } from "../../text/word-alignment";
import type { Span } from "../../time";
import { findBestAlignment, isUsableAlignment, type PlanSteps, requestAlignmentsOf } from "../context";
import { isFillerText } from "../lexicon/lexicon";
import type { EarlierTake } from "../retakes/takes-by-line";
import type { RuleMatch } from "../rules";
import { overlapDuration } from "../spans";
import type { LineTakes } from "../take-list";
import { COMMON, RETAKES } from "../thresholds";
import {
  discountClipping,
  isSpokenLine,
  type LineCandidate,
  rateAlignment,
  toAlignmentRequests,
  toLineWindow,
  withoutWrongWords,
} from "./line-candidates";
import { type PathTake, toSkippedSpan } from "./path-takes";
import type { ScriptedRecording } from "./script-lines";

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
export const isWeak = (take: ConfirmedTake): boolean => !take.isAligned && take.score < RETAKES.minSimilarShare;

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
  const results = yield* requestAlignmentsOf(trials.map((trial) => trial ?? { requests: [] }));
  return trials.map((trial, i) => {
    if (!trial) return null;
    const { take, window, mute, known } = trial;
    const alignment = known ? known.alignment : findBestAlignment(results[i]!);
    return confirmTake({ ...take, window, mute, alignment }, candidates[take.line]!, recording);
  });
}

function confirmTake(
  take: PathTake & Pick<ConfirmedTake, "window" | "mute" | "alignment">,
  candidates: readonly LineCandidate[],
  recording: ScriptedRecording,
): ConfirmedTake | null {
  const { activity, lines } = recording;
  const alignment = isUsableAlignment(take.alignment) ? take.alignment : null;
  const alignments = candidates.flatMap((one) => one.alignment ?? []);
  const spoken = alignment && withoutWrongWords(alignment, [...alignments, alignment]);
  const isExact = alignment !== null && isSpokenLine(alignment);
  const isAligned = isExact || (spoken !== null && isSpokenLine(spoken));
  const last = take.pairs[take.pairs.length - 1]!;
  const quality = Math.max(0, spoken ? rateAlignment(spoken) : 0, take.score);
  const hasOtherWords = alignment !== null && listDifferingWords(take, recording).length > 0;
  const differs = take.differs || isAligned !== isExact || hasOtherWords;
  const isSure = !differs && (isAligned || take.score >= COMMON.minCompleteShare);
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
  alignment?.words.filter((word) => word.logProb < COMMON.maxMisfit) ?? [];

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
    const aligns = take.alignment?.words.some(
      (own) => own.logProb >= COMMON.maxMisfit && overlapDuration(own, word) > 0,
    );
    if (isOther && !aligns && word.text !== "" && !isFillerText(word.text, lexicon)) out.push(word);
  }
  return out;
}

/**
 * Returns all takes of each spoken line. A stretch that is kept for another line, or matches another line better, is
 * not a take of this one. A false start that is too short to be identified by its words is a take of the line that
 * follows it.
 */
export function listLineTakes(
  recording: ScriptedRecording,
  candidates: readonly LineCandidate[][],
  takes: readonly (ConfirmedTake | null)[],
  earlierTakes: readonly EarlierTake[],
): LineTakes[] {
  const { lines, tokens } = recording;
  const owners = findOwners(tokens.length, candidates, takes);
  const falseStarts = listFalseStarts(recording, candidates, takes, earlierTakes);
  return lines.flatMap((line, i) => {
    const take = takes[i];
    if (!take) return [];
    const others = candidates[i]!.filter((one) => {
      let own = 0;
      for (let j = one.from; j < one.to; j++) if (owners[j] === i) own++;
      const isKept = Math.min(one.to, take.to) - Math.max(one.from, take.from) > (one.to - one.from) / 2;
      return !isKept && 2 * own > one.to - one.from;
    });
    return [
      {
        line: line.text,
        chosen: { ...take.window, score: take.quality, complete: take.complete },
        others: [
          ...others.map(({ window, quality, complete }) => ({ ...window, score: quality, complete })),
          ...falseStarts[i]!,
        ],
      },
    ];
  });
}

/** Returns for each line the false starts that are not among its candidates. */
function listFalseStarts(
  { lines, tokens, activity }: ScriptedRecording,
  candidates: readonly LineCandidate[][],
  takes: readonly (ConfirmedTake | null)[],
  earlierTakes: readonly EarlierTake[],
): Candidate[][] {
  const lineAt = new Int32Array(tokens.length).fill(-1);
  for (const take of takes) if (take) lineAt.fill(take.line, take.from, take.to);
  const out: Candidate[][] = lines.map(() => []);
  // Those repeated last come first, so that a false start of a false start finds its line.
  for (const { from, to, retakeStart } of earlierTakes) {
    const line = lineAt[retakeStart]!;
    if (line < 0 || lineAt[from]! >= 0) continue;
    for (let j = from; j < to; j++) if (lineAt[j]! < 0) lineAt[j] = line;
    if (candidates[line]!.some((one) => one.from < to && from < one.to)) continue;
    const said = tokens.slice(from, to).map((token) => token.normal);
    const { cost } = alignWords(said, lines[line]!.words, measureWordDistance);
    const score = Math.max(0, 1 - cost / lines[line]!.words.length);
    out[line]!.push({ ...toLineWindow({ from, to }, tokens, activity), score, complete: false });
  }
  return out;
}

/** Returns the line of each token: the line for which it is kept, or the one with the best candidate there. */
export function findOwners(
  tokenCount: number,
  candidates: readonly LineCandidate[][],
  takes: readonly (ConfirmedTake | null)[],
): Int32Array {
  const owners = new Int32Array(tokenCount).fill(-1);
  const best = new Float32Array(tokenCount).fill(-1);
  for (const one of candidates.flat()) {
    for (let j = one.from; j < one.to; j++) {
      if (one.quality <= best[j]!) continue;
      best[j] = one.quality;
      owners[j] = one.line;
    }
  }
  for (const take of takes) if (take) owners.fill(take.line, take.from, take.to);
  return owners;
}
