/** Repetitions that the transcript spells alike, and those found by forced alignment. */

import { isContentWord } from "../lexicon/lexicon";
import { COMMON } from "../thresholds";
import { pauseBefore, UNRECOGNIZED } from "../tokens";
import { isFragment, isRemark } from "./interrupted-takes";
import { isBrokenOffWord, listTokens, type Repetition, type RetakeContext } from "./repetition";
import type { AcousticRepetition } from "./repetition-pairs";
import { RETAKES } from "./thresholds";

/** Returns the longest beginning of tokens `[from, retakeStart)` that is spelled like what follows; null if none is. */
export function findTextRepetition(
  context: RetakeContext,
  from: number,
  retakeStart: number,
  contradictedByAudio: boolean,
): Repetition | null {
  const { tokens, distanceBetween, phraseStarts } = context;
  if (distanceBetween(tokens[from]!.normal, tokens[retakeStart]!.normal) > RETAKES.maxSimilarWordDistance) return null;
  const rows = retakeStart - from;
  const columns = Math.min(tokens.length - retakeStart, rows + COMMON.maxAddedWords);
  let previous = Array.from({ length: columns + 1 }, (_, j) => j);
  let best: Repetition | null = null;
  /** The best repetition that ends with a phrase. */
  let phrase: Repetition | null = null;
  for (let i = 1; i <= rows; i++) {
    const normal = tokens[from + i - 1]!.normal;
    const row = [i];
    let lowest = i;
    let matched = 0;
    let lastMatches = false;
    for (let j = 1; j <= columns; j++) {
      const other = tokens[retakeStart + j - 1]!.normal;
      const distance = distanceBetween(normal, other);
      const substituted = previous[j - 1]! + distance;
      row.push(Math.min(substituted, previous[j]! + 1, row[j - 1]! + 1));
      const brokenOff = isBrokenOffWord(normal, other)
        ? previous[j - 1]! + RETAKES.brokenOffCost
        : Number.POSITIVE_INFINITY;
      const ending = Math.min(row[j]!, brokenOff);
      if (ending >= lowest) continue;
      lowest = ending;
      matched = j;
      lastMatches = ending === brokenOff || (ending === substituted && distance <= RETAKES.maxSimilarWordDistance);
    }
    previous = row;
    if (lastMatches && lowest <= i * RETAKES.maxDifferentShare) {
      const audio = { contradictedByAudio, confirmedByAudio: false, alignment: null };
      best = { from, retakeStart, end: from + i, matched, cost: lowest, ...audio };
      if (phraseStarts[best.end]) phrase ??= best;
    }
    // Words that start differently are not a repetition, however well they continue.
    if (lowest > 1 + RETAKES.maxDifferentShare * i) break;
  }
  return phrase && phrase.end < retakeStart && isRemark(context, listTokens(phrase.end, retakeStart)) ? phrase : best;
}

/** Converts an acoustic repetition; null if the words after the matching ones make it another sentence. */
export function toAudioRepetition(context: RetakeContext, acoustic: AcousticRepetition): Repetition | null {
  const { from, retakeStart, end, matched, evidence, alignment, distance } = acoustic;
  // Never an exact repetition.
  const base = { from, retakeStart, end, matched, alignment, distance, cost: RETAKES.maxExactCost * matched };
  if (isUnclearWord(context, acoustic)) return { ...base, cost: 0, contradictedByAudio: false, confirmedByAudio: true };
  if (evidence === "exchange")
    return {
      ...base,
      contradictedByAudio: false,
      confirmedByAudio: true,
      hasOtherSpelling: true,
    };
  if (evidence === "audio") return { ...base, contradictedByAudio: false, confirmedByAudio: false };
  const contradictedByAudio = evidence === "weak" && hasSureOtherWords(context, acoustic);
  const repetition = { ...base, contradictedByAudio, confirmedByAudio: evidence === "clear" };
  if (acoustic.trailing < COMMON.minTakePause)
    return hasOtherEnding(context, acoustic) ? { ...repetition, contradictedByAudio: true } : repetition;
  const last = context.tokens[end - 1]!.normal;
  const next = context.tokens.slice(retakeStart + matched, retakeStart + matched + COMMON.maxSlipWords);
  const isSameAsLast = ({ normal }: { normal: string }) =>
    context.distanceBetween(last, normal) <= RETAKES.maxSameWordDistance;
  if (matched >= COMMON.minSureMatchWords && next.some(isSameAsLast)) return repetition;
  const left = Math.max(1, Math.min(end - from - 1, end - from - matched));
  if (left > 2) return null;
  return isFragment(context, { from: end - left, to: end }, repetition) ? repetition : null;
}

/** Returns whether the take is a single unclear word between pauses that aligned with the start of the next words. */
function isUnclearWord(
  { tokens, words, phraseStarts }: RetakeContext,
  { from, retakeStart, end, matched, evidence }: AcousticRepetition,
): boolean {
  if (end - from !== 1 || !phraseStarts[from]) return false;
  if (pauseBefore(tokens, from) < COMMON.minTakePause || pauseBefore(tokens, end) < COMMON.minTakePause) return false;
  const { normal, word } = tokens[from]!;
  if (normal === UNRECOGNIZED || words[word]!.confidence >= COMMON.minWordConfidence) return false;
  return (matched >= 2 || evidence === "clear") && end <= retakeStart;
}

/** Returns whether the take ends with a clear word that is not a matching one: those were stretched over it. */
function hasOtherEnding(
  { tokens, words, lexicon, distanceBetween }: RetakeContext,
  { from, retakeStart, end, matched }: AcousticRepetition,
): boolean {
  const last = tokens[end - 1]!;
  if (end - from <= matched || matched >= RETAKES.minLongMatchWords) return false;
  if (tokens[retakeStart]!.normal === UNRECOGNIZED || !isContentWord(last.normal, lexicon)) return false;
  if (words[last.word]!.confidence < RETAKES.sureEndingConfidence) return false;
  const matchEnd = retakeStart + matched;
  const nearby = tokens.slice(Math.max(retakeStart, matchEnd - COMMON.maxSlipWords), matchEnd + COMMON.maxSlipWords);
  return nearby.every((token) => distanceBetween(last.normal, token.normal) > RETAKES.maxSimilarWordDistance);
}

/** Returns whether the take has clearly recognized words that the retake lacks: other words, not misspelled ones. */
function hasSureOtherWords(
  { tokens, words, distanceBetween }: RetakeContext,
  { from, retakeStart, end, matched }: AcousticRepetition,
): boolean {
  const retake = tokens.slice(retakeStart, retakeStart + matched + 1);
  const others: number[] = [];
  let at = 0;
  for (let i = from; i < end; i++) {
    const isSimilar = (normal: string) => distanceBetween(tokens[i]!.normal, normal) <= RETAKES.maxSimilarWordDistance;
    const found = retake.findIndex((token, k) => k >= at && k <= at + 1 && isSimilar(token.normal));
    if (found >= 0) at = found + 1;
    else others.push(words[tokens[i]!.word]!.confidence);
  }
  const sure = others.filter((confidence) => confidence >= COMMON.sureWordConfidence).length;
  return sure >= RETAKES.minSureShare * (end - from);
}
