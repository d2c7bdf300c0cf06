/**
 * Stage 4, retakes: a speaker stops and restarts, so the words before the restart match the first words after it.
 * Sentences that only start with the same words are kept.
 */

import type { Word } from "../../speech";
import { canShareLetters, createDistanceCache, toLetterSet } from "../../text/normalize";
import { createYieldCounter, type PlanSteps } from "../context";
import type { Lexicon } from "../lexicon/lexicon";
import { hasOtherSpeaker } from "../other-voices";
import { type RemovalRule, type ReviewRule, type RuleMatch, reasonOf } from "../rules";
import { COMMON } from "../thresholds";
import { findPhraseStarts, type Token } from "../tokens";
import type { AcousticRepetitions } from "./acoustic-repetitions";
import { decideRepetition, type RepetitionDecision } from "./decide-repetition";
import { findTextRepetition, toAudioRepetition } from "./find-repetition";
import { findAnnouncedRepetition, findRewordedRepetition } from "./interrupted-takes";
import { type Repetition, type RetakeContext, toScores } from "./repetition";
import { RETAKES } from "./thresholds";

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
  const distanceBetween = createDistanceCache();
  const context: RetakeContext = { words, tokens, lexicon, phraseStarts, removed, distanceBetween };
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
  const { tokens, distanceBetween } = context;
  const isSame = (i: number, k: number) => {
    const [a, b] = [tokens[i]!.normal, tokens[k]!.normal];
    return canShareLetters(a, b, letters[i]!, letters[k]!) && distanceBetween(a, b) <= RETAKES.maxSameWordDistance;
  };
  const maxSize = Math.min(COMMON.maxComparedWords, retakeStart, tokens.length - retakeStart);
  for (let size = RETAKES.maxShortPhraseWords; size <= maxSize; size++) {
    const from = retakeStart - size;
    if (!isNear(tokens, from, retakeStart)) return false;
    if (!isSame(retakeStart, from) || !isSame(retakeStart - 1, retakeStart + size - 1)) continue;
    const maxDifferent = size < RETAKES.minLongMatchWords ? 0 : 1;
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
