/** Stage 4, retakes: selects the phrases whose audio is compared with that of the phrases after them. */

import { ENERGY_HOP, type EnergyContour } from "../../speech";
import { createDistanceCache } from "../../text/normalize";
import type { Span, Ticks } from "../../time";
import { type AudioActivity, levelRange } from "../audio-activity";
import { durationOf, indexEndingAfter, mergeSpans } from "../spans";
import { ACTIVITY, COMMON } from "../thresholds";
import { pauseBefore, type Token } from "../tokens";
import { isRemark } from "./interrupted-takes";
import type { RetakeContext } from "./repetition";
import type { AcousticRepetition } from "./repetition-pairs";
import { RETAKES } from "./thresholds";

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
    if (!retake || take.quiet - take.start < RETAKES.minCompared || durationOf(take) > ACTIVITY.maxWindow) return [];
    if (retake.start - take.start > RETAKES.maxDistance || !(isUnclear(take) || isUnclear(retake))) return [];
    const neighbors = [phrases[i - 1], phrases[at + 1]].filter((phrase) => phrase !== undefined);
    const isKnown = remark !== null || take.tokens.length > 0 || retake.tokens.length > 0;
    return isKnown ? [{ take, remark, retake, neighbors }] : [];
  });
}

/** Returns the places where two or three words stop before a pause, and similar ones follow. */
export function listShortRestarts(tokens: readonly Token[]): Pick<AcousticRepetition, "from" | "retakeStart">[] {
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
