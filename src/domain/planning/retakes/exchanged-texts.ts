/** Stage 4, retakes: compares two takes that were recognized as different words, by exchanging their texts. */

import type { ForcedAlignment, Word } from "../../speech";
import type { Ticks } from "../../time";
import { isUsableAlignment, type PlanSteps, requestAlignments } from "../context";
import { ACTIVITY, COMMON } from "../thresholds";
import type { Token } from "../tokens";
import { type AcousticRepetition, joinTokenTexts, type RepetitionPair, toWindow } from "./repetition-pairs";
import { RETAKES } from "./thresholds";

/** Returns whether the first phrase of a take is spelled like the beginning of its retake, so that the text decides. */
export function isSpelledAlike(tokens: readonly Token[], { from, end, retakeStart }: RepetitionPair): boolean {
  for (let i = from; i < end; i++) if (tokens[i]!.normal !== tokens[retakeStart + i - from]?.normal) return false;
  return true;
}

/**
 * Finds takes that were recognized as other words than their retakes. The text of each then fits the other's audio
 * nearly as well as its own: both are spellings of the same sounds.
 */
export function* findExchangedTexts(
  pairs: readonly RepetitionPair[],
  words: readonly Word[],
  tokens: readonly Token[],
  duration: Ticks,
): PlanSteps<AcousticRepetition[]> {
  const matches = pairs.map((pair) => countAsLong(tokens, pair));
  const results = yield* requestAlignments(
    pairs.flatMap(({ from, end, retakeStart }, i) => {
      const until = retakeStart + matches[i]!;
      const take = {
        window: toWindow(tokens, from, end, duration),
        text: joinTokenTexts(words, tokens, from, end - from),
      };
      const retake = {
        window: toWindow(tokens, retakeStart, until, duration),
        text: joinTokenTexts(words, tokens, retakeStart, until - retakeStart),
      };
      return [take, retake, { ...take, text: retake.text }, { ...retake, text: take.text }];
    }),
  );
  return pairs.flatMap(({ from, end, retakeStart }, i) => {
    const alignments = results.slice(4 * i, 4 * i + 4);
    if (!alignments.every(isUsableAlignment)) return [];
    const [take, retake, retakeInTake, takeInRetake] = alignments as FourAlignments;
    const loss = sumMeans(take, retake) - sumMeans(retakeInTake, takeInRetake);
    if (Math.min(take.meanLogProb, retake.meanLogProb) < COMMON.clearAlignment || loss > RETAKES.maxExchangeLoss)
      return [];
    const until = retakeStart + matches[i]!;
    const continues = tokens[until] && tokens[until].start - tokens[until - 1]!.end < ACTIVITY.minRestartPause;
    if (losesWord(take, takeInRetake, continues ? 1 : 0) || losesWord(retake, retakeInTake, 1)) return [];
    const alignment = sumMeans(retakeInTake, takeInRetake) / 2;
    return [{ from, retakeStart, end, matched: matches[i]!, trailing: 0, alignment, evidence: "exchange" as const }];
  });
}

type FourAlignments = [ForcedAlignment, ForcedAlignment, ForcedAlignment, ForcedAlignment];

const sumMeans = (a: ForcedAlignment, b: ForcedAlignment) => a.meanLogProb + b.meanLogProb;

/**
 * Returns whether a word that is clear in its own place is not spoken in the other one. The last `ignored` words may be
 * broken off there.
 */
const losesWord = (own: ForcedAlignment, other: ForcedAlignment, ignored: number): boolean =>
  own.words
    .slice(0, own.words.length - ignored)
    .some(({ logProb }, i) => logProb >= COMMON.clearAlignment && (other.words[i]?.logProb ?? 0) <= COMMON.maxMisfit);

/** Returns how many tokens of the retake take as long as the take. */
function countAsLong(tokens: readonly Token[], { from, end, retakeStart }: RepetitionPair): number {
  const until = tokens[retakeStart]!.start + tokens[end - 1]!.end - tokens[from]!.start;
  let count = 1;
  while (middleOf(tokens[retakeStart + count]) <= until) count++;
  return count;
}

const middleOf = (token: Token | undefined): Ticks =>
  token ? (token.start + token.end) / 2 : Number.POSITIVE_INFINITY;
