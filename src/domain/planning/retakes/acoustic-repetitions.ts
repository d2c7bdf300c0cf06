/**
 * Finds repetitions by audio. Two takes of a sentence may be misrecognized differently, so the words of one are
 * force-aligned with the audio of the other: they align as far as they were spoken there, and not beyond.
 */

import type { AlignedWord, ForcedAlignment, Word } from "../../speech";
import type { Ticks } from "../../time";
import { isUsableAlignment, type PlanSteps, requestAlignments, requestAlignmentsOf } from "../context";
import type { Lexicon } from "../lexicon/lexicon";
import { ACTIVITY, COMMON, RETAKES } from "../thresholds";
import { type Token, toMaxLength } from "../tokens";
import {
  type AcousticRepetition,
  joinTokenTexts,
  listRepetitionPairs,
  type RepetitionPair,
  toWindow,
} from "./repetition-pairs";

/** `different` lists pairs of phrase starts in which a word inside one is not in the other. */
export type AcousticRepetitions = { found: AcousticRepetition[]; different: { from: number; retakeStart: number }[] };

/** Finds acoustic repetitions between phrase starts that are spelled similarly or follow each other closely. */
export function* findAcousticRepetitions(
  words: readonly Word[],
  tokens: readonly Token[],
  duration: Ticks,
  lexicon: Lexicon,
): PlanSteps<AcousticRepetitions> {
  const pairs = listRepetitionPairs(words, tokens, lexicon);
  const forward = pairs
    .map((pair) => ({ pair, text: joinTokenTexts(words, tokens, pair.retakeStart, pair.count) }))
    .filter(({ text }) => text !== "");
  const forwardResults = yield* requestAlignments(
    forward.map(({ pair: { from, until }, text }) => ({ window: toWindow(tokens, from, until, duration), text })),
  );
  const found: AcousticRepetition[] = [];
  const different = new Set<RepetitionPair>();
  for (const [i, { pair }] of forward.entries()) {
    const alignment = forwardResults[i];
    if (!isUsableAlignment(alignment)) continue;
    const repetition = matchRetakeInTake(pair, alignment, tokens);
    if (repetition) found.push(repetition);
    if (hasMisfit(alignment, COMMON.maxMisfit)) different.add(pair);
  }
  const known = new Set(found.map(keyOf));
  const phrases = pairs.filter((pair) => pair.end - pair.from >= 2);
  const open = phrases.filter((pair) => !known.has(keyOf(pair)));
  const backwardResults = yield* requestAlignments(
    open.map(({ from, retakeStart, end }) => ({
      window: toWindow(tokens, retakeStart, findRetakeEnd(tokens, from, end, retakeStart), duration),
      text: joinTokenTexts(words, tokens, from, end - from),
    })),
  );
  const unlike = new Set<RepetitionPair>();
  for (const [i, pair] of open.entries()) {
    const alignment = backwardResults[i];
    const repetition = isUsableAlignment(alignment) ? matchTakeInRetake(pair, alignment, tokens) : null;
    if (repetition) {
      found.push(repetition);
      different.delete(pair);
    } else if (!alignment || alignment.meanLogProb < COMMON.minPossibleAlignment) unlike.add(pair);
  }
  const exchanged = phrases.filter((pair) => !unlike.has(pair) && !isSpelledAlike(tokens, pair));
  found.push(...(yield* findExchangedTexts(exchanged, words, tokens, duration)));
  return { found, different: [...different].map(({ from, retakeStart }) => ({ from, retakeStart })) };
}

const keyOf = ({ from, retakeStart }: Pick<RepetitionPair, "from" | "retakeStart">) => `${from}-${retakeStart}`;

/** Returns how many of the words were spoken, starting with the first: the sum of their log odds is highest there. */
export function countSpokenWords(logProbs: readonly number[]): number {
  let sum = 0;
  let best = 0;
  let count = 0;
  for (const [i, logProb] of logProbs.entries()) {
    sum += logProb - RETAKES.spokenWord;
    if (sum <= best) continue;
    best = sum;
    count = i + 1;
  }
  return count;
}

const evidenceOf = (mean: number) => (mean < COMMON.clearAlignment ? "weak" : "clear");

const countSpoken = (alignment: ForcedAlignment) => countSpokenWords(alignment.words.map((word) => word.logProb));

const meanOf = (words: readonly AlignedWord[], count: number) =>
  words.slice(0, count).reduce((sum, word) => sum + word.logProb, 0) / count;

/** Returns whether the spoken words align well, except perhaps for a first word that may be misspelled. */
function alignsWell({ words }: ForcedAlignment, spoken: number): boolean {
  const [first, second] = words;
  if (!first || spoken === 0 || meanOf(words, spoken) < RETAKES.minMean) return false;
  if (first.logProb >= RETAKES.spokenWord || spoken >= COMMON.manyWords) return true;
  return second !== undefined && second.logProb >= COMMON.clearAlignment;
}

/** Returns whether a word between aligned words does not align at all, which indicates another sentence. */
const hasMisfit = ({ words }: ForcedAlignment, maxMisfit: number): boolean =>
  words.some(({ logProb }, i) => {
    const neighbors = [words[i - 1], words[i + 1]];
    return (
      logProb <= maxMisfit && neighbors.every((word) => word !== undefined && word.logProb >= COMMON.clearAlignment)
    );
  });

/**
 * Returns whether the words are at about the same position as in the other take. Forced alignment finds the middle of a
 * text wherever it is, so the log probabilities alone are not sufficient. `ownTime` returns the time of a share of the
 * text in the other take.
 */
function isInPlace(
  alignment: ForcedAlignment,
  spoken: number,
  start: Ticks,
  ownTime: (share: number) => Ticks,
): boolean {
  for (let k = 1; k < spoken; k++) {
    if (alignment.words[k]!.start - start > toMaxLength(ownTime(k / alignment.words.length))) return false;
  }
  return true;
}

/** Matches the words of the retake with the audio of the earlier take. */
function matchRetakeInTake(
  { from, retakeStart, until, count }: RepetitionPair,
  alignment: ForcedAlignment,
  tokens: readonly Token[],
): AcousticRepetition | null {
  const spoken = countSpoken(alignment);
  const matched = Math.round((spoken / alignment.words.length) * count);
  if (matched === 0 || !alignsWell(alignment, spoken)) return null;
  const ownTime = (share: number) =>
    tokens[retakeStart + Math.min(count - 1, Math.round(share * count))]!.start - tokens[retakeStart]!.start;
  if (!isInPlace(alignment, spoken, tokens[from]!.start, ownTime)) return null;
  const matchEnd = alignment.words[spoken - 1]!.end;
  const end = findTakeEnd(tokens, { from, retakeStart, until }, matched, matchEnd);
  if (end === null || matched < RETAKES.minSimilarShare * (end - from)) return null;
  const trailing = Math.max(0, tokens[end - 1]!.end - matchEnd);
  const mean = meanOf(alignment.words, spoken);
  return { from, retakeStart, end, matched, trailing, alignment: mean, evidence: evidenceOf(mean) };
}

/** Matches the earlier take's words with the retake's audio, which must contain all but an unfinished last one. */
function matchTakeInRetake(
  { from, retakeStart, end }: RepetitionPair,
  alignment: ForcedAlignment,
  tokens: readonly Token[],
): AcousticRepetition | null {
  const spoken = countSpoken(alignment);
  if (spoken < Math.max(2, alignment.words.length - 1) || !alignsWell(alignment, spoken)) return null;
  if (hasMisfit(alignment, COMMON.minPossibleAlignment)) return null;
  const ownTime = (share: number) =>
    tokens[from + Math.min(end - from - 1, Math.round(share * (end - from)))]!.start - tokens[from]!.start;
  if (!isInPlace(alignment, spoken, tokens[retakeStart]!.start, ownTime)) return null;
  const matchEnd = alignment.words[spoken - 1]!.end;
  const isInside = (token: Token | undefined) => token !== undefined && (token.start + token.end) / 2 <= matchEnd;
  let matched = 1;
  while (isInside(tokens[retakeStart + matched])) matched++;
  const mean = meanOf(alignment.words, spoken);
  return { from, retakeStart, end, matched, trailing: 0, alignment: mean, evidence: evidenceOf(mean) };
}

/** Returns the token, exclusive, up to which the retake may contain the earlier take. */
function findRetakeEnd(tokens: readonly Token[], from: number, end: number, retakeStart: number): number {
  const length = toMaxLength(tokens[end - 1]!.end - tokens[from]!.start);
  let until = retakeStart + 1;
  while (until < tokens.length && tokens[until]!.end - tokens[retakeStart]!.start <= length) until++;
  return until;
}

/** Returns the end of the earlier take: the pause nearest to its last matching word. Null if much more was said. */
function findTakeEnd(
  tokens: readonly Token[],
  { from, retakeStart, until }: Pick<RepetitionPair, "from" | "retakeStart" | "until">,
  matched: number,
  matchEnd: Ticks,
): number | null {
  const start = tokens[from]!.start;
  const retakeLength = tokens[retakeStart + matched - 1]!.end - tokens[retakeStart]!.start;
  let best: number | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (let end = from + 1; end <= until; end++) {
    const pause = (tokens[end]?.start ?? Number.POSITIVE_INFINITY) - tokens[end - 1]!.end;
    if (end !== retakeStart && pause < ACTIVITY.minRestartPause) continue;
    const length = tokens[end - 1]!.end - start;
    const distance = Math.abs(tokens[end - 1]!.end - matchEnd) + Math.abs(length - retakeLength) / 2;
    // A take may end inside the next word. A longer one says something else.
    if (
      length > retakeLength / COMMON.minLengthRatio + COMMON.maxLate ||
      retakeLength > toMaxLength(length) ||
      distance >= smallest
    )
      continue;
    smallest = distance;
    best = end;
  }
  return best;
}

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
  const results = yield* requestAlignmentsOf(
    pairs.map(({ from, end, retakeStart }, i) => {
      const until = retakeStart + matches[i]!;
      const take = {
        window: toWindow(tokens, from, end, duration),
        text: joinTokenTexts(words, tokens, from, end - from),
      };
      const retake = {
        window: toWindow(tokens, retakeStart, until, duration),
        text: joinTokenTexts(words, tokens, retakeStart, until - retakeStart),
      };
      return { requests: [take, retake, { ...take, text: retake.text }, { ...retake, text: take.text }] };
    }),
  );
  return pairs.flatMap(({ from, end, retakeStart }, i) => {
    const alignments = results[i]!;
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
