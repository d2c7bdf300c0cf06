/**
 * Compares the audio of phrases with that of the phrases after them. In noise and in a large room, a take and its
 * retake may be recognized as entirely different words, or not at all.
 */

import { type AudioMatch, type AudioPair, ENERGY_HOP, type EnergyContour, type Word } from "../../speech";
import { measureWordDistance } from "../../text/normalize";
import type { Span, Ticks } from "../../time";
import { type AudioActivity, levelRange } from "../audio-activity";
import { type PlanSteps, requestAudioMatches } from "../context";
import type { DecidedWord, Decision } from "../decided-spans";
import type { Lexicon } from "../lexicon/lexicon";
import { haveOtherVoices } from "../other-voices";
import type { RepetitionScores } from "../rules";
import {
  durationOf,
  findOverlapping,
  indexEndingAfter,
  intersect,
  mergeSpans,
  overlapDuration,
  subtract,
} from "../spans";
import { ACTIVITY, COMMON, RETAKES } from "../thresholds";
import { pauseBefore, type Token, toMaxLength } from "../tokens";
import { isDictation, isRefrain, repeatsUnit } from "./decide-repetition";
import { isRemark } from "./interrupted-takes";
import type { RetakeContext } from "./repetition";
import type { AcousticRepetition } from "./repetition-pairs";

/** A phrase on which its audio decides, because it or its retake has no words. */
export type DecidedStretch = Span & Decision;
type AlikePair = PhrasePair & { match: AudioMatch };

/** Finds takes with words that sound like their retakes, on which the rules of retakes decide. */
export function* findAlikeTakes(
  words: readonly Word[],
  tokens: readonly Token[],
  activity: AudioActivity,
  lexicon: Lexicon,
): PlanSteps<AcousticRepetition[]> {
  const recording = { words, tokens, lexicon };
  const pairs = listPhrasePairs(listPhrases(recording, activity), recording).filter(hasWords);
  const restarts = listShortRestarts(tokens);
  const matches = yield* requestAudioMatches([
    ...pairs.map((pair) => toPhraseAudio(pair, activity.duration)),
    ...restarts.map(({ from, retakeStart }) =>
      toAudioPair(toSpan(tokens, from, retakeStart), tokens[retakeStart]!.start, activity.duration),
    ),
  ]);
  const found = pairs.flatMap((pair, i) => {
    const match = matches[i];
    if (!match || !isAlike(pair, match)) return [];
    const { take, retake } = pair;
    // Words after the loud part were not compared.
    const last = take.tokens.findLast((token) => tokens[token]!.start < take.quiet);
    return last === undefined ? [] : toRepetition(tokens, take.tokens[0]!, last + 1, retake.tokens[0]!, match);
  });
  for (const [i, { from, retakeStart }] of restarts.entries()) {
    const match = matches[pairs.length + i];
    if (match && match.worst <= RETAKES.maxAudioDistance)
      found.push(...toRepetition(tokens, from, retakeStart, retakeStart, match));
  }
  return found;
}

/**
 * Finds takes that sound like their retakes where one of both has no words. They are removed or marked, and so are the
 * remarks after them. Returns sorted, disjoint stretches.
 */
export function* findUnclearTakes(
  words: readonly Word[],
  tokens: readonly Token[],
  activity: AudioActivity,
  lexicon: Lexicon,
): PlanSteps<DecidedStretch[]> {
  const recording = { words, tokens, lexicon };
  const pairs = listPhrasePairs(listPhrases(recording, activity), recording).filter((pair) => !hasWords(pair));
  const matches = yield* requestAudioMatches(pairs.map((pair) => toPhraseAudio(pair, activity.duration)));
  const alike = pairs.flatMap((pair, i) => {
    const match = matches[i];
    return match && isAlike(pair, match) && endsAtQuiet(pair.take, tokens) ? [{ ...pair, match }] : [];
  });
  return yield* decideStretches(recording, alike, activity.duration);
}

const hasWords = ({ take, retake }: PhrasePair): boolean => take.tokens.length > 0 && retake.tokens.length > 0;

/** Returns whether a take sounds like its retake. A remark between them is evidence too. */
function isAlike(pair: PhrasePair, { distance, worst }: AudioMatch): boolean {
  if (distance > RETAKES.maxAudioDistance) return false;
  if (pair.remark) return worst <= RETAKES.maxWorstAnnouncedDistance;
  return worst <= (hasWords(pair) ? RETAKES.maxWorstAudioDistance : RETAKES.maxWorstUnclearDistance);
}

/** Returns whether the whole phrase was compared, except for an echo. */
const endsAtQuiet = ({ end, quiet, tokens: own }: Phrase, tokens: readonly Token[]): boolean =>
  end - quiet <= COMMON.minTakePause && own.every((i) => tokens[i]!.start < quiet);

function toRepetition(
  tokens: readonly Token[],
  from: number,
  end: number,
  retakeStart: number,
  { distance, duration }: AudioMatch,
): AcousticRepetition[] {
  const matched = countTokens(tokens, retakeStart, duration);
  if (matched === 0) return [];
  return [{ from, retakeStart, end, matched, trailing: 0, alignment: null, distance, evidence: "audio" }];
}

function* decideStretches(
  recording: ComparedPhrases,
  pairs: readonly AlikePair[],
  duration: Ticks,
): PlanSteps<DecidedStretch[]> {
  const decisions = new Map<Phrase, Decision>();
  for (const pair of pairs) {
    const { take, remark, retake, match } = pair;
    const decision = decideStretch(recording, pair);
    if (!decision || (yield* isInRow(pair, duration))) continue;
    const measured = Math.min(match.duration, COMMON.voiceSample);
    const onsets = [
      { start: take.start, end: Math.min(take.quiet, take.start + COMMON.voiceSample) },
      { start: retake.start, end: Math.min(duration, retake.start + measured) },
    ] as const;
    if (yield* haveOtherVoices(...onsets)) continue;
    decisions.set(take, decision);
    if (remark && decision.removal)
      decisions.set(remark, { removal: { ...decision.removal, rule: "remark.between_takes" }, reviews: [] });
  }
  return [...decisions]
    .map(([{ start, end }, decision]) => ({ start, end, ...decision }))
    .toSorted((a, b) => a.start - b.start);
}

type StretchDecision = {
  removal: { rule: "false_start.prefix" | "retake.after_remark"; scores: RepetitionScores } | null;
  reviews: Decision["reviews"];
};

/**
 * Returns the decision on a take of which it or its retake has no words; null if it stays. Without a remark, recognized
 * words are never removed in favor of audio without words.
 */
function decideStretch(recording: ComparedPhrases, pair: AlikePair): StretchDecision | null {
  const { take, remark, retake, match } = pair;
  const first = retake.tokens[0];
  const said = first === undefined ? 0 : countTokens(recording.tokens, first, match.duration);
  const scores = {
    repeatedAt: retake.start,
    pause: retake.start - take.end,
    words: Math.max(said, take.tokens.length),
    similarity: 1 - match.distance,
    alignment: null,
  };
  if (scores.words === 0) return { removal: null, reviews: [{ rule: "review.uncertain_retake", scores }] };
  if (remark) return { removal: { rule: "retake.after_remark", scores }, reviews: [] };
  if (said === 0) return null;
  if (isDeliberate(recording, retake, said))
    return { removal: null, reviews: [{ rule: "review.deliberate_repetition", scores }] };
  return { removal: { rule: "false_start.prefix", scores }, reviews: [] };
}

/** Returns whether the first words of a retake are probably repeated on purpose: a chant, a refrain or dictation. */
function isDeliberate(recording: ComparedPhrases, { tokens: own }: Phrase, said: number): boolean {
  const from = own[0]!;
  const words = { from, end: from + said, retakeStart: from, matched: said };
  const isWhole = said >= own.length && said <= RETAKES.maxShortPhraseWords;
  return (
    isWhole ||
    repeatsUnit(recording.tokens, from, words.end) ||
    isRefrain(recording, words, words.end) ||
    isDictation(recording, words)
  );
}

/** Returns whether a third phrase in a row sounds like the take, as in songs. */
function* isInRow({ take, remark, neighbors }: PhrasePair, duration: Ticks): PlanSteps<boolean> {
  if (remark) return false;
  const matches = yield* requestAudioMatches(
    neighbors.map(({ start }) => toAudioPair(toLoudSpan(take), start, duration)),
  );
  return matches.some((match) => match && match.distance <= RETAKES.maxAudioDistance);
}

const toLoudSpan = ({ start, quiet }: Phrase): Span => ({ start, end: quiet });

const toPhraseAudio = ({ take, retake }: PhrasePair, duration: Ticks): AudioPair =>
  toAudioPair(toLoudSpan(take), retake.start, duration);

/** Returns the pair to compare. A take may be slower when it is said again. */
export const toAudioPair = (take: Span, start: Ticks, duration: Ticks): AudioPair => ({
  take,
  retake: { start, end: Math.min(duration, start + toMaxLength(durationOf(take))) },
});

const toSpan = (tokens: readonly Token[], from: number, to: number): Span => ({
  start: tokens[from]!.start,
  end: Math.min(tokens[to - 1]!.end, tokens[to]!.start),
});

/** Returns the number of tokens from `at` on that are in a stretch of this length. */
function countTokens(tokens: readonly Token[], at: number, length: Ticks): number {
  let count = 0;
  const isInside = ({ start, end }: Token) => (start + end) / 2 < tokens[at]!.start + length;
  while (tokens[at + count] && isInside(tokens[at + count]!)) count++;
  return count;
}

/** Divides words at the edges of stretches: a voice without words may last through several phrases. */
export const divideAtStretches = (words: readonly DecidedWord[], stretches: readonly DecidedStretch[]): DecidedWord[] =>
  words.flatMap((word) => {
    const inside = findOverlapping(stretches, word).map((stretch) => intersect(word, stretch));
    return [...subtract(word, stretches), ...inside].map(({ start, end }) => ({ ...word, start, end }));
  });

/** Applies the decisions on stretches to words that are kept. */
export const decideByStretches = (words: readonly DecidedWord[], stretches: readonly DecidedStretch[]): DecidedWord[] =>
  words.map((word) => (word.removal === null ? { ...word, ...decideByStretch(word, word, stretches) } : word));

/**
 * Returns the decision on a span with that of the stretch in which most of it is. The marks of the span stay. A stretch
 * that is only marked marks nothing that is removed.
 */
export function decideByStretch(
  span: Span,
  { removal, reviews }: Decision,
  stretches: readonly DecidedStretch[],
): Decision {
  const stretch = findOverlapping(stretches, span).find((one) => 2 * overlapDuration(one, span) > durationOf(span));
  if (!stretch || (removal && !stretch.removal)) return { removal, reviews };
  return { removal: stretch.removal ?? removal, reviews: [...reviews, ...stretch.reviews] };
}

/** Speech between two pauses, with its recognized tokens. After `quiet` there is only an echo, or quieter speech. */
export type Phrase = Span & { tokens: number[]; quiet: Ticks };
/** A phrase, and a later one that may say the same. `remark` is between them, such as "again". */
export type PhrasePair = { take: Phrase; remark: Phrase | null; retake: Phrase; neighbors: Phrase[] };
export type ComparedPhrases = Pick<RetakeContext, "words" | "tokens" | "lexicon">;

/** Returns the phrases, except those of fillers alone. Pauses between words count too: an echo fills pauses. */
export function listPhrases({ words, tokens }: ComparedPhrases, { speechRegions, energy }: AudioActivity): Phrase[] {
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

/** Returns the time after which a phrase stays far below its loud parts. */
function findQuiet({ start, end }: Span, energy: EnergyContour): Ticks {
  const levels = energy.subarray(Math.floor(start / ENERGY_HOP), Math.ceil(end / ENERGY_HOP));
  const { high } = levelRange(levels);
  const last = levels.findLastIndex((level) => level >= high - ACTIVITY.maxBelowSpeechDb);
  return Math.min(end, start + (last + 1) * ENERGY_HOP);
}

/**
 * Returns each phrase with the next one, or with the one after a remark, if the recognizer was unsure of a word. Two
 * phrases without words are paired only if a remark is between them: songs and other languages stay.
 */
export function listPhrasePairs(phrases: readonly Phrase[], recording: ComparedPhrases): PhrasePair[] {
  const { words, tokens } = recording;
  const isUnclear = (phrase: Phrase) =>
    phrase.tokens.length === 0 || phrase.tokens.some((i) => words[tokens[i]!.word]!.confidence < COMMON.minConfidence);
  return phrases.flatMap((take, i) => {
    const next = phrases[i + 1];
    const remark = next && isRemark(recording, next.tokens) ? next : null;
    const at = remark ? i + 2 : i + 1;
    const retake = phrases[at];
    if (!retake || take.quiet - take.start < COMMON.minPhrase || durationOf(take) > ACTIVITY.maxWindow) return [];
    if (retake.start - take.start > RETAKES.maxDistance || !(isUnclear(take) || isUnclear(retake))) return [];
    const neighbors = [phrases[i - 1], phrases[at + 1]].filter((phrase) => phrase !== undefined);
    const isKnown = remark !== null || take.tokens.length > 0 || retake.tokens.length > 0;
    return isKnown ? [{ take, remark, retake, neighbors }] : [];
  });
}

/** Returns the places where two or three words stop before a pause, and similar ones follow. */
export function listShortRestarts(tokens: readonly Token[]): Pick<AcousticRepetition, "from" | "retakeStart">[] {
  return tokens.flatMap(({ normal, start }, retakeStart) => {
    if (pauseBefore(tokens, retakeStart) < COMMON.minDuration) return [];
    return [retakeStart - COMMON.maxSlipWords, retakeStart - RETAKES.maxShortPhraseWords]
      .filter((from) => {
        const first = tokens[from];
        if (!first || start - first.start > ACTIVITY.maxWord) return false;
        return measureWordDistance(first.normal, normal) <= RETAKES.maxSimilarWordDistance;
      })
      .map((from) => ({ from, retakeStart }));
  });
}
