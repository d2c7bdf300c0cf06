/**
 * Finds retakes: a speaker stops and restarts, so the words before the restart match the first words after it.
 * Sentences that only start with the same words are kept.
 */

import type { Word } from "../../speech";
import { measureWordDistance, toLetterSet } from "../../text/normalize";
import { createYieldCounter, type PlanSteps } from "../context";
import { isContentWord, type Lexicon } from "../lexicon/lexicon";
import { hasOtherSpeaker } from "../other-voices";
import { type RemovalRule, type ReviewRule, type RuleMatch, reasonOf } from "../rules";
import { COMMON, RETAKES } from "../thresholds";
import { findPhraseStarts, pauseBefore, type Token, UNRECOGNIZED } from "../tokens";
import type { AcousticRepetitions } from "./acoustic-repetitions";
import { decideRepetition, type RepetitionDecision } from "./decide-repetition";
import { findAnnouncedRepetition, findRewordedRepetition, isFragment, isRemark } from "./interrupted-takes";
import { isBrokenOffWord, listTokens, type Repetition, type RetakeContext, toScores } from "./repetition";
import type { AcousticRepetition } from "./repetition-pairs";

/** Words `[from, to)` of the transcript that are removed because they are repeated from word `retakeStart` on. */
export type Retake = { from: number; to: number; retakeStart: number; match: RuleMatch<RemovalRule> };
/** Words `[from, to)` that may be a retake. They are kept and marked. */
export type PossibleRetake = { from: number; to: number; match: RuleMatch<ReviewRule> };
export type Retakes = { retakes: Retake[]; possible: PossibleRetake[] };

/** Returns whether the words are a take, not a remark between two takes. */
export const isTake = ({ match }: Retake): boolean => reasonOf(match.rule) === "retake";

/**
 * Finds the retakes in a transcript's words (sorted) and their tokens. `acousticRepetitions` are those found by forced
 * alignment where the spelling does not show a repetition. `voices`: whether a take and its retake must have the same
 * voice.
 */
export function* findRetakes(
  words: readonly Word[],
  tokens: readonly Token[],
  lexicon: Lexicon,
  acousticRepetitions: AcousticRepetitions = { found: [], different: [] },
  voices: "compare" | "ignore" = "ignore",
): PlanSteps<Retakes> {
  const isYieldDue = createYieldCounter();
  const phraseStarts = tokens.map(() => false);
  for (const i of findPhraseStarts(words, tokens)) phraseStarts[i] = true;
  const removed = new Uint8Array(tokens.length);
  const context: RetakeContext = { words, tokens, lexicon, phraseStarts, removed };
  const letters = Int32Array.from(tokens, ({ normal }) => toLetterSet(normal));
  const acoustic = Map.groupBy(acousticRepetitions.found, (one) => pairKey(one.from, one.retakeStart));
  const restarts = new Set(acousticRepetitions.found.map(({ retakeStart }) => retakeStart));
  const different = new Set(acousticRepetitions.different.map((pair) => pairKey(pair.from, pair.retakeStart)));
  const found: Retakes = { retakes: [], possible: [] };
  for (let retakeStart = 1; retakeStart < tokens.length; retakeStart++) {
    if (
      !phraseStarts[retakeStart] &&
      !restarts.has(retakeStart) &&
      !isStutter(tokens, retakeStart) &&
      !isSaidAgainAtOnce(context, letters, retakeStart)
    )
      continue;
    for (let from = retakeStart - 1; from >= 0 && isNear(tokens, from, retakeStart); from--) {
      if (tokens[retakeStart - 1]!.word === tokens[retakeStart]!.word) continue;
      if (!canStartTake(context, from, retakeStart)) continue;
      if (isYieldDue((retakeStart - from) ** 2)) yield null;
      const key = pairKey(from, retakeStart);
      const repetitions = [
        findTextRepetition(context, from, retakeStart, different.has(key)),
        ...(acoustic.get(key) ?? []).map((one) => toAudioRepetition(context, one)),
        findAnnouncedRepetition(context, from, retakeStart),
        findRewordedRepetition(context, from, retakeStart),
      ];
      const decided = decideFirst(context, repetitions);
      if (!decided) continue;
      const { repetition, decision } = decided;
      if ("review" in decision) recordPossible(found, context, repetition, decision.review);
      else if (voices === "compare" && (yield* hasOtherSpeaker(tokens, repetition)))
        recordPossible(found, context, repetition, "review.other_speaker");
      else recordRetake(found, context, repetition, decision);
    }
  }
  return found;
}

const pairKey = (from: number, retakeStart: number) => `${from}-${retakeStart}`;

/** Returns whether a take can start at `from`: nothing is removed there yet, or only a part of it. */
function canStartTake({ removed, phraseStarts }: RetakeContext, from: number, retakeStart: number): boolean {
  if (!removed[from]) return true;
  if (!phraseStarts[from] || removed[from - 1]) return false;
  for (let i = from; i < retakeStart; i++) if (!removed[i]) return true;
  return false;
}

/** Returns whether the token repeats the previous one, or starts a repetition of the previous two. */
function isStutter(tokens: readonly Token[], i: number): boolean {
  const normal = (k: number) => tokens[k]?.normal;
  return normal(i - 1) === normal(i) || (i >= 2 && normal(i - 2) === normal(i) && normal(i - 1) === normal(i + 1));
}

/** Returns whether the words before a token follow again right after it: a retake without a pause. */
function isSaidAgainAtOnce(context: RetakeContext, letters: Int32Array, retakeStart: number): boolean {
  const { tokens } = context;
  const isSame = (i: number, k: number) => {
    const [a, b] = [tokens[i]!.normal, tokens[k]!.normal];
    return measureWordDistance(a, b, letters[i], letters[k]) <= RETAKES.maxSameWordDistance;
  };
  const maxSize = Math.min(COMMON.maxComparedWords, retakeStart, tokens.length - retakeStart);
  for (let size = RETAKES.maxShortPhraseWords; size <= maxSize; size++) {
    const from = retakeStart - size;
    if (!isNear(tokens, from, retakeStart)) return false;
    if (!isSame(retakeStart, from) || !isSame(retakeStart - 1, retakeStart + size - 1)) continue;
    const maxDifferent = size < COMMON.manyWords ? 0 : 1;
    let different = 0;
    for (let k = 1; k < size - 1 && different <= maxDifferent; k++) if (!isSame(from + k, retakeStart + k)) different++;
    if (different <= maxDifferent) return !isWithinRepetition(context, from, size);
  }
  return false;
}

/**
 * Returns whether the repetition starts a few words later, with a phrase: "of me. Some have seen me. Some have seen me
 * come" repeats "Some have seen me", not "me. Some have seen".
 */
function isWithinRepetition({ tokens, phraseStarts }: RetakeContext, from: number, size: number): boolean {
  if (phraseStarts[from]) return false;
  for (let k = 0; k + 1 < size; k++) {
    if (tokens[from + 2 * size + k]?.normal !== tokens[from + size + k]!.normal) return false;
    if (phraseStarts[from + k + 1]) return true;
  }
  return false;
}

const isNear = (tokens: readonly Token[], from: number, retakeStart: number) =>
  retakeStart - from <= COMMON.maxComparedWords &&
  tokens[retakeStart]!.start - tokens[from]!.start <= RETAKES.maxDistance;

type DecidedRepetition = { repetition: Repetition; decision: RepetitionDecision };

/** Returns the first decision to remove, or else the first one to mark. */
function decideFirst(context: RetakeContext, repetitions: readonly (Repetition | null)[]): DecidedRepetition | null {
  const decisions = repetitions.flatMap((repetition) => {
    const decision = repetition && decideRepetition(context, repetition);
    return repetition && decision ? [{ repetition, decision }] : [];
  });
  return decisions.find(({ decision }) => !("review" in decision)) ?? decisions[0] ?? null;
}

function recordPossible(found: Retakes, { tokens }: RetakeContext, repetition: Repetition, rule: ReviewRule): void {
  const match = { rule, scores: toScores(tokens, repetition) } as RuleMatch<ReviewRule>;
  const { from, end } = repetition;
  found.possible.push({ from: tokens[from]!.word, to: tokens[end - 1]!.word + 1, match });
}

function recordRetake(
  found: Retakes,
  { tokens, removed, phraseStarts }: RetakeContext,
  repetition: Repetition,
  { to, rule, rest }: Extract<RepetitionDecision, { to: number }>,
): void {
  const { from, retakeStart } = repetition;
  const scores = toScores(tokens, repetition);
  const first = tokens[from]!.word;
  const retakeWord = tokens[retakeStart]!.word;
  removed.fill(1, from, to);
  // A retake starts the same phrase, so it may itself be followed by a retake.
  if (phraseStarts[from]) phraseStarts[retakeStart] = true;
  // If words are repeated a third time, more of them may turn out to be equal.
  found.retakes = found.retakes.filter((other) => other.from !== first || !isTake(other));
  found.retakes.push({ from: first, to: tokens[to - 1]!.word + 1, retakeStart: retakeWord, match: { rule, scores } });
  if (rest === null || to >= retakeStart) return;
  removed.fill(1, to, retakeStart);
  const [start, end] = [tokens[to]!.word, tokens[retakeStart - 1]!.word + 1];
  found.retakes.push({ from: start, to: end, retakeStart: retakeWord, match: { rule: rest, scores } });
}

/** Returns the longest beginning of tokens `[from, retakeStart)` that is spelled like what follows; null if none is. */
export function findTextRepetition(
  context: RetakeContext,
  from: number,
  retakeStart: number,
  contradictedByAudio: boolean,
): Repetition | null {
  const { tokens, phraseStarts } = context;
  if (measureWordDistance(tokens[from]!.normal, tokens[retakeStart]!.normal) > RETAKES.maxSimilarWordDistance)
    return null;
  const rows = retakeStart - from;
  const columns = Math.min(tokens.length - retakeStart, rows + COMMON.manyWords);
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
      const distance = measureWordDistance(normal, other);
      const substituted = previous[j - 1]! + distance;
      row.push(Math.min(substituted, previous[j]! + 1, row[j - 1]! + 1));
      const brokenOff = isBrokenOffWord(normal, other)
        ? previous[j - 1]! + RETAKES.maxSpellingDistance
        : Number.POSITIVE_INFINITY;
      const ending = Math.min(row[j]!, brokenOff);
      if (ending >= lowest) continue;
      lowest = ending;
      matched = j;
      lastMatches = ending === brokenOff || (ending === substituted && distance <= RETAKES.maxSimilarWordDistance);
    }
    previous = row;
    if (lastMatches && lowest <= i * RETAKES.maxSpellingDistance) {
      const audio = { contradictedByAudio, confirmedByAudio: false, alignment: null };
      best = { from, retakeStart, end: from + i, matched, cost: lowest, ...audio };
      if (phraseStarts[best.end]) phrase ??= best;
    }
    // Words that start differently are not a repetition, however well they continue.
    if (lowest > 1 + RETAKES.maxSpellingDistance * i) break;
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
    measureWordDistance(last, normal) <= RETAKES.maxSameWordDistance;
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
  { tokens, words, lexicon }: RetakeContext,
  { from, retakeStart, end, matched }: AcousticRepetition,
): boolean {
  const last = tokens[end - 1]!;
  if (end - from <= matched || matched >= COMMON.manyWords) return false;
  if (tokens[retakeStart]!.normal === UNRECOGNIZED || !isContentWord(last.normal, lexicon)) return false;
  if (words[last.word]!.confidence < COMMON.likelyWordConfidence) return false;
  const matchEnd = retakeStart + matched;
  const nearby = tokens.slice(Math.max(retakeStart, matchEnd - COMMON.maxSlipWords), matchEnd + COMMON.maxSlipWords);
  return nearby.every((token) => measureWordDistance(last.normal, token.normal) > RETAKES.maxSimilarWordDistance);
}

/** Returns whether the take has clearly recognized words that the retake lacks: other words, not misspelled ones. */
function hasSureOtherWords(
  { tokens, words }: RetakeContext,
  { from, retakeStart, end, matched }: AcousticRepetition,
): boolean {
  const retake = tokens.slice(retakeStart, retakeStart + matched + 1);
  const others: number[] = [];
  let at = 0;
  for (let i = from; i < end; i++) {
    const isSimilar = (normal: string) =>
      measureWordDistance(tokens[i]!.normal, normal) <= RETAKES.maxSimilarWordDistance;
    const found = retake.findIndex((token, k) => k >= at && k <= at + 1 && isSimilar(token.normal));
    if (found >= 0) at = found + 1;
    else others.push(words[tokens[i]!.word]!.confidence);
  }
  const sure = others.filter((confidence) => confidence >= COMMON.sureWordConfidence).length;
  return sure >= COMMON.minShare * (end - from);
}
