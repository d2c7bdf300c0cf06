/**
 * Stage 4, retakes: compares phrases with those after them by their sounds. In noise and in a large room, a take and its retake may be recognized as
 * entirely different words, or not at all.
 */

import { type AudioMatch, type AudioPair, ENERGY_HOP, type EnergyContour, type Word } from "../../speech";
import { createDistanceCache } from "../../text/normalize";
import type { Span, Ticks } from "../../time";
import { type AudioActivity, levelRange } from "../audio-activity";
import { type PlanSteps, requestAudioMatches } from "../context";
import type { DecidedWord, Decision } from "../decided-spans";
import { hasRemarkCue, type Lexicon } from "../lexicon/lexicon";
import { haveOtherVoices } from "../other-voices";
import type { RuleMatch } from "../rules";
import { durationOf, findOverlapping, indexEndingAfter, intersect, isMostlyIn, mergeSpans, subtract } from "../spans";
import { ACTIVITY, COMMON } from "../thresholds";
import { pauseBefore, type Token, toMaxLength } from "../tokens";
import type { AcousticRepetition } from "./repetition-pairs";
import { RETAKES } from "./thresholds";

/** A stretch of speech between pauses, and the tokens of the words that were recognized in it. The echo after it starts at `quiet`. */
type Phrase = Span & { tokens: number[]; quiet: Ticks };
/** `retake` starts with the sounds of `take`. `isAnnounced`: a remark such as "again" is between them. */
type PhrasePair = { take: Phrase; retake: Phrase; isAnnounced: boolean };
/** A take that is removed although it, or its retake, was not understood. */
type RemovedStretch = Span & { match: RuleMatch<"false_start.prefix" | "retake.after_remark"> };
export type AlikeTakes = { found: AcousticRepetition[]; stretches: RemovedStretch[] };

/**
 * Finds takes that sound like their retakes. `found` has those with words, on which the rules of retakes decide. Where one of both was not understood, the
 * sounds decide: `stretches`. Two stretches that were not understood are compared only with a remark between them: songs and other languages stay.
 */
export function* findAlikeTakes(
  words: readonly Word[],
  tokens: readonly Token[],
  activity: AudioActivity,
  lexicon: Lexicon,
): PlanSteps<AlikeTakes> {
  const pairs = listUnclearPhrases(listPhrases(words, tokens, activity), words, tokens, lexicon);
  const restarts = listShortRestarts(tokens);
  const matches = yield* requestAudioMatches([
    ...pairs.map(({ take, retake }) => toAudioPair(take, retake.start, activity.duration)),
    ...restarts.map(({ from, retakeStart }) =>
      toAudioPair(toSpan(tokens, from, retakeStart), tokens[retakeStart]!.start, activity.duration),
    ),
  ]);
  const found: AcousticRepetition[] = [];
  const stretches: RemovedStretch[] = [];
  const addRepetition = (from: number, end: number, retakeStart: number, { duration }: AudioMatch) => {
    const matched = countTokens(tokens, retakeStart, duration);
    if (matched > 0) found.push({ from, retakeStart, end, matched, trailing: 0, alignment: null, evidence: "audio" });
  };
  for (const [i, { take, retake, isAnnounced }] of pairs.entries()) {
    const match = matches[i];
    const [from, retakeStart] = [take.tokens[0], retake.tokens[0]];
    const isUnderstood = from !== undefined && retakeStart !== undefined;
    const maxWorst = isUnderstood ? RETAKES.maxWorstAudioDistance : RETAKES.maxWorstUnclearDistance;
    if (!match || match.distance > RETAKES.maxAudioDistance || (!isAnnounced && match.worst > maxWorst)) continue;
    if (isUnderstood) addRepetition(from, take.tokens.at(-1)! + 1, retakeStart, match);
    else if (!(yield* haveOtherVoices(take, retake))) {
      const known = retakeStart === undefined ? take.tokens.length : countTokens(tokens, retakeStart, match.duration);
      const [pause, similarity] = [retake.start - take.end, 1 - match.distance];
      const scores = { repeatedAt: retake.start, pause, words: known, similarity, alignment: null };
      const rule = isAnnounced ? "retake.after_remark" : "false_start.prefix";
      stretches.push({ start: take.start, end: take.end, match: { rule, scores } });
    }
  }
  for (const [i, { from, retakeStart }] of restarts.entries()) {
    const match = matches[pairs.length + i];
    if (match && match.worst <= RETAKES.maxAudioDistance) addRepetition(from, retakeStart, retakeStart, match);
  }
  return { found, stretches };
}

/** Returns the stretches of speech between pauses, without those of fillers alone. An echo fills pauses, so those between words count too. */
function listPhrases(
  words: readonly Word[],
  tokens: readonly Token[],
  { speechRegions, energy }: AudioActivity,
): Phrase[] {
  const pause = COMMON.minTakePause;
  const stretches = mergeSpans(speechRegions.map(({ start, end }) => ({ start, end: end + pause })));
  const spoken = words.flatMap((word, i) => (word.text === "" ? [] : [{ ...word, i }]));
  const wordsOf = Map.groupBy(spoken, ({ start, end }) => indexEndingAfter(stretches, (start + end) / 2));
  const tokensOf = Map.groupBy(tokens.keys(), (i) => tokens[i]!.word);
  return stretches.flatMap((stretch, i) => {
    const phrases = [{ start: stretch.start, end: stretch.end - pause, words: [] as typeof spoken }];
    for (const word of wordsOf.get(i) ?? []) {
      const last = phrases.at(-1)!;
      const before = last.words.at(-1);
      if (before && word.start - before.end >= pause) {
        phrases.push({ start: word.start, end: last.end, words: [word] });
        last.end = before.end;
      } else last.words.push(word);
    }
    return phrases.flatMap(({ words: own, ...span }) => {
      const known = own.flatMap((word) => tokensOf.get(word.i) ?? []);
      return own.length > 0 && known.length === 0 ? [] : [{ ...span, tokens: known, quiet: findQuiet(span, energy) }];
    });
  });
}

/** Returns where a phrase fades below its loud parts: what follows is an echo. */
function findQuiet({ start, end }: Span, energy: EnergyContour): Ticks {
  const levels = energy.subarray(Math.floor(start / ENERGY_HOP), Math.ceil(end / ENERGY_HOP));
  const { high } = levelRange(levels);
  const last = levels.findLastIndex((level) => level >= high - ACTIVITY.maxBelowSpeechDb);
  return Math.min(end, start + (last + 1) * ENERGY_HOP);
}

/** Returns each phrase with the next one, or with the one after a remark, if the recognizer was unsure of a word. */
function listUnclearPhrases(
  phrases: readonly Phrase[],
  words: readonly Word[],
  tokens: readonly Token[],
  lexicon: Lexicon,
): PhrasePair[] {
  const isUnclear = (phrase: Phrase) =>
    phrase.tokens.length === 0 || phrase.tokens.some((i) => words[tokens[i]!.word]!.confidence < COMMON.minConfidence);
  const isRemark = (phrase: Phrase | undefined) =>
    phrase !== undefined &&
    phrase.tokens.length <= RETAKES.maxRemarkWords &&
    hasRemarkCue(phrase.tokens.map((i) => tokens[i]!.normal).join(" "), lexicon);
  return phrases.flatMap((take, i) => {
    const isAnnounced = isRemark(phrases[i + 1]);
    const retake = phrases[i + (isAnnounced ? 2 : 1)];
    const length = durationOf(take);
    if (!retake || length < RETAKES.minCompared || length > ACTIVITY.maxWindow) return [];
    if (retake.start - take.start > RETAKES.maxDistance || !(isUnclear(take) || isUnclear(retake))) return [];
    const isKnown = isAnnounced || take.tokens.length > 0 || retake.tokens.length > 0;
    return isKnown ? [{ take, retake, isAnnounced }] : [];
  });
}

/** Returns the places where two or three words stop before a pause, and similar ones follow. */
function listShortRestarts(tokens: readonly Token[]): Pick<AcousticRepetition, "from" | "retakeStart">[] {
  const distanceBetween = createDistanceCache();
  return tokens.flatMap(({ normal, start }, retakeStart) => {
    if (pauseBefore(tokens, retakeStart) < ACTIVITY.minRegionGap) return [];
    return [retakeStart - COMMON.maxSlipWords, retakeStart - RETAKES.maxShortPhraseWords]
      .filter((from) => {
        const first = tokens[from];
        if (!first || start - first.start > ACTIVITY.maxWord) return false;
        return distanceBetween(first.normal, normal) <= RETAKES.maxSimilarWordDistance;
      })
      .map((from) => ({ from, retakeStart }));
  });
}

/** Returns the pair to compare: of what follows, as much as the take may be slower when it is said again. */
function toAudioPair(take: Span & { quiet?: Ticks }, start: Ticks, duration: Ticks): AudioPair {
  const end = take.quiet ?? take.end;
  return {
    take: { start: take.start, end },
    retake: { start, end: Math.min(duration, start + toMaxLength(end - take.start)) },
  };
}

const toSpan = (tokens: readonly Token[], from: number, to: number): Span => ({
  start: tokens[from]!.start,
  end: Math.min(tokens[to - 1]!.end, tokens[to]!.start),
});

/** Returns how many tokens from `at` on are in a stretch of this length. */
function countTokens(tokens: readonly Token[], at: number, length: Ticks): number {
  let count = 0;
  const isInside = ({ start, end }: Token) => (start + end) / 2 < tokens[at]!.start + length;
  while (tokens[at + count] && isInside(tokens[at + count]!)) count++;
  return count;
}

/** Divides words at the edges of stretches, as a voice without words, which may last through several phrases. */
export const divideAtStretches = (words: readonly DecidedWord[], stretches: readonly RemovedStretch[]): DecidedWord[] =>
  words.flatMap((word) => {
    const inside = findOverlapping(stretches, word).map((stretch) => intersect(word, stretch));
    return [...subtract(word, stretches), ...inside].map(({ start, end }) => ({ ...word, start, end }));
  });

/** Removes the stretches from words that are kept. */
export const removeStretches = (words: readonly DecidedWord[], stretches: readonly RemovedStretch[]): DecidedWord[] =>
  words.map((word) => (word.removal === null ? { ...word, ...decideByStretch(word, stretches) } : word));

/** Returns the decision on a part of a removed stretch; null elsewhere. */
export function decideByStretch(span: Span, stretches: readonly RemovedStretch[]): Decision | null {
  const stretch = stretches.find((one) => isMostlyIn(span, one));
  return stretch ? { removal: stretch.match, reviews: [] } : null;
}
