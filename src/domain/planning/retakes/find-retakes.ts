/**
 * Retakes found without a script: somebody begins, stops, and begins again. What was said first then matches the beginning of what is
 * said next. Sentences that only begin alike stay.
 */

import type { Word } from "../../speech";
import { createDistanceCache } from "../../text/normal";
import { fromSeconds } from "../../time";
import { createYieldCounter, type PlanSteps } from "../context";
import { findPhraseStarts, pauseBefore, type Token, UNRECOGNIZED } from "../tokens";
import type { AcousticRepetition, AcousticRepetitions } from "./acoustic-repetitions";
import { isFragment } from "./broken-off-words";
import { decideRepetition, type RepetitionDecision } from "./decide-repetition";
import { isContentWord } from "./different-words";
import { isRemark } from "./remarks";
import type { Repetition, RetakeContext } from "./repetition";

/** Words `[from, to)` of the transcript that were said again from word `again` on. `remark`: talk between two takes. */
export type Retake = { from: number; to: number; retakeStart: number; kind: "retake" | "remark" };
/** Words `[from, to)` that look like a retake, but not surely. */
export type Doubt = { from: number; to: number; review: string };
export type Retakes = { retakes: Retake[]; doubts: Doubt[] };

const LONGEST_BACK = fromSeconds(45);
const LONGEST_BACK_WORDS = 130;
/** Share of an attempt's words that may differ from the words of the later take. */
const TOLERATED = 0.24;
/** What follows a phrase that matches is another phrase, perhaps talk about the take, when so much of it differs. */
const OTHER_PHRASE = 0.5;
/** Sound after the last word that fits, if no longer than this, is that word's. */
const REST = fromSeconds(0.3);
/** Of words that a recogniser is so sure of few are misspelled; this share of an attempt is not chance. */
const SURE = 0.8;
const SURE_SHARE = 0.3;
const UNCLEAR = 0.45;
const APART = fromSeconds(0.3);
const ENDING_SURE = 0.7;
/** After so many words that fit, a last one that does not was misheard. */
const LONG_ECHO = 8;
const AROUND = 2;
/** After so many words that fit, the same word at the end is no chance. */
const ENDS_ALIKE = 4;

/**
 * Finds the retakes in a transcript's words (sorted) and their heard words. `echoes`: what the sound said about attempts whose spelling
 * does not tell.
 */
export function* findRetakes(
  words: readonly Word[],
  tokens: readonly Token[],
  acousticRepetitions: AcousticRepetitions = { found: [], different: [] },
): PlanSteps<Retakes> {
  const isYieldDue = createYieldCounter();
  const starts = tokens.map(() => false);
  for (const i of findPhraseStarts(words, tokens)) starts[i] = true;
  const context: RetakeContext = {
    words,
    tokens,
    starts,
    removed: new Uint8Array(tokens.length),
    distanceBetween: createDistanceCache(),
  };
  const heardAgain = new Map(
    acousticRepetitions.found.map((acoustic) => [place(acoustic.from, acoustic.retakeStart), acoustic]),
  );
  const different = new Set(acousticRepetitions.different.map((pair) => place(pair.from, pair.retakeStart)));
  const found: Retakes = { retakes: [], doubts: [] };
  for (let retakeStart = 1; retakeStart < tokens.length; retakeStart++) {
    if (!starts[retakeStart] && !isRepetition(tokens, retakeStart)) continue;
    for (let from = retakeStart - 1; from >= 0 && withinReach(tokens, from, retakeStart); from--) {
      if (tokens[retakeStart - 1]!.word === tokens[retakeStart]!.word || !isOpen(context, from, retakeStart)) continue;
      if (isYieldDue((retakeStart - from) ** 2)) yield [];
      const here = place(from, retakeStart);
      const repetitions = [
        sameSpelling(context, from, retakeStart, different.has(here)),
        sameSound(context, heardAgain.get(here)),
      ];
      const { repetition, decision } = firstVerdict(context, repetitions);
      if (repetition) note(found, context, repetition, decision);
    }
  }
  return found;
}

/** Whether an attempt may begin here: where nothing is gone yet, or where only a part of what was said then is. */
function isOpen({ removed, starts }: RetakeContext, from: number, retakeStart: number): boolean {
  if (!removed[from]) return true;
  if (!starts[from] || removed[from - 1]) return false;
  for (let i = from; i < retakeStart; i++) if (!removed[i]) return true;
  return false;
}

const place = (from: number, retakeStart: number) => `${from}-${retakeStart}`;

/** The word before, or the two before, are said again. */
function isRepetition(tokens: readonly Token[], i: number): boolean {
  const normal = (k: number) => tokens[k]?.normal;
  return normal(i - 1) === normal(i) || (i >= 2 && normal(i - 2) === normal(i) && normal(i - 1) === normal(i + 1));
}

const withinReach = (tokens: readonly Token[], from: number, retakeStart: number) =>
  retakeStart - from <= LONGEST_BACK_WORDS && tokens[retakeStart]!.start - tokens[from]!.start <= LONGEST_BACK;

/** Writes down what was decided on a repeat. */
function note(
  found: Retakes,
  { tokens, removed }: RetakeContext,
  { from, end, retakeStart }: Repetition,
  decision: RepetitionDecision,
): void {
  const first = tokens[from]!.word;
  if (decision === "different") return;
  if (decision === "doubt") {
    found.doubts.push({ from: first, to: tokens[end - 1]!.word + 1, review: "resembles what is said next" });
    return;
  }
  const { to, rest } = decision;
  removed.fill(1, from, to);
  // Said a third time, more of it may be known to be the same.
  found.retakes = found.retakes.filter((other) => other.from !== first || other.kind !== "retake");
  found.retakes.push({
    from: first,
    to: tokens[to - 1]!.word + 1,
    retakeStart: tokens[retakeStart]!.word,
    kind: "retake",
  });
  if (rest === "kept" || to >= retakeStart) return;
  removed.fill(1, to, retakeStart);
  const [start, stop] = [tokens[to]!.word, tokens[retakeStart - 1]!.word + 1];
  found.retakes.push({
    from: start,
    to: stop,
    retakeStart: tokens[retakeStart]!.word,
    kind: rest === "remark" ? "remark" : "retake",
  });
}

/** The first repeat that is not of different sentences; one in doubt only when no other is sure. */
function firstVerdict(
  context: RetakeContext,
  repetitions: readonly (Repetition | null)[],
): { repetition: Repetition | null; decision: RepetitionDecision } {
  let doubt: Repetition | null = null;
  for (const repetition of repetitions) {
    const decision = repetition ? decideRepetition(context, repetition) : "different";
    if (repetition && decision === "doubt") doubt ??= repetition;
    else if (decision !== "different") return { repetition, decision };
  }
  return { repetition: doubt, decision: doubt ? "doubt" : "different" };
}

/** The longest beginning of the words `[from, again)` that is spelled like a beginning of what follows `again`. */
function sameSpelling(
  context: RetakeContext,
  from: number,
  retakeStart: number,
  contradictedByAudio: boolean,
): Repetition | null {
  const { tokens, distanceBetween, starts } = context;
  if (distanceBetween(tokens[from]!.normal, tokens[retakeStart]!.normal) > 0.6) return null;
  const rows = retakeStart - from;
  const columns = Math.min(tokens.length - retakeStart, rows + 6);
  let previous = Array.from({ length: columns + 1 }, (_, j) => j);
  let best: Repetition | null = null;
  /** The best repeat that ends with a phrase. */
  let phrase: Repetition | null = null;
  for (let i = 1; i <= rows; i++) {
    const word = tokens[from + i - 1]!.normal;
    const row = [i];
    let lowest = i;
    let at = 0;
    let lastMatches = false;
    for (let j = 1; j <= columns; j++) {
      const distance = distanceBetween(word, tokens[retakeStart + j - 1]!.normal);
      const swap = previous[j - 1]! + distance;
      row.push(Math.min(swap, previous[j]! + 1, row[j - 1]! + 1));
      if (row[j]! >= lowest) continue;
      lowest = row[j]!;
      at = j;
      lastMatches = row[j] === swap && distance <= 0.6;
    }
    previous = row;
    if (lastMatches && lowest <= i * TOLERATED) {
      best = {
        from,
        retakeStart,
        end: from + i,
        matched: at,
        cost: lowest,
        contradictedByAudio,
        confirmedByAudio: false,
      };
      const beyond = phrase ? best.end - phrase.end : 0;
      if (starts[best.end] && (!phrase || lowest - phrase.cost <= OTHER_PHRASE * beyond)) phrase = best;
    }
    // However well it goes on: what begins otherwise is not the same.
    if (lowest > 0.75 + 0.3 * i) break;
  }
  return phrase && phrase.end < retakeStart && isRemark(context, range(phrase.end, retakeStart)) ? phrase : best;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** What an echo says as a repeat. What was said beyond the words that fit must be a fragment: else it is another sentence. */
function sameSound(context: RetakeContext, acoustic: AcousticRepetition | undefined): Repetition | null {
  if (!acoustic) return null;
  const { from, retakeStart, end, spoken } = acoustic;
  const contradictedByAudio = acoustic.weak && isSpelledSurely(context, acoustic);
  if (isUnclearAttempt(context, acoustic))
    return { from, retakeStart, end, matched: spoken, cost: 0, contradictedByAudio: false, confirmedByAudio: true };
  const repetition = {
    from,
    retakeStart,
    end,
    matched: spoken,
    cost: 0.05 * spoken,
    contradictedByAudio,
    confirmedByAudio: !acoustic.weak,
  };
  if (acoustic.rest < REST)
    return endsOtherwise(context, acoustic) ? { ...repetition, contradictedByAudio: true } : repetition;
  const last = context.tokens[end - 1]!.normal;
  const next = context.tokens.slice(retakeStart + spoken, retakeStart + spoken + AROUND);
  if (spoken >= ENDS_ALIKE && next.some((word) => context.distanceBetween(last, word.normal) <= 0.3)) return repetition;
  const left = Math.max(1, Math.min(end - from - 1, end - from - spoken));
  if (left > 2) return null;
  return isFragment(context, { from: end - left, to: end }, repetition) ? repetition : null;
}

/** A single word that the recogniser did not make out, between pauses, in which it heard the beginning of what is said next. */
function isUnclearAttempt(
  { tokens, words, starts }: RetakeContext,
  { from, retakeStart, end, spoken, weak }: AcousticRepetition,
): boolean {
  if (end - from !== 1 || !starts[from] || pauseBefore(tokens, from) < APART || pauseBefore(tokens, end) < APART)
    return false;
  const { normal, word } = tokens[from]!;
  return normal !== UNRECOGNIZED && words[word]!.confidence < UNCLEAR && (spoken >= 2 || !weak) && end <= retakeStart;
}

/** Whether the attempt ends with a word, surely heard, that is not near where the words that fit end: they were drawn out over it. */
function endsOtherwise(
  { tokens, words, distanceBetween }: RetakeContext,
  { from, retakeStart, end, spoken }: AcousticRepetition,
): boolean {
  const last = tokens[end - 1]!;
  if (
    end - from <= spoken ||
    spoken >= LONG_ECHO ||
    tokens[retakeStart]!.normal === UNRECOGNIZED ||
    !isContentWord(last.normal)
  )
    return false;
  if (words[last.word]!.confidence < ENDING_SURE) return false;
  const around = tokens.slice(Math.max(retakeStart, retakeStart + spoken - AROUND), retakeStart + spoken + AROUND);
  return around.every((word) => distanceBetween(last.normal, word.normal) > 0.6);
}

/** Whether the recogniser was sure of words in the attempt that are not in the later take: then they are other words, not misspelled ones. */
function isSpelledSurely(
  { tokens, words, distanceBetween }: RetakeContext,
  { from, retakeStart, end, spoken }: AcousticRepetition,
): boolean {
  const later = tokens.slice(retakeStart, retakeStart + spoken + 1);
  const others: number[] = [];
  let at = 0;
  for (let i = from; i < end; i++) {
    const found = later.findIndex(
      (word, k) => k >= at && k <= at + 1 && distanceBetween(tokens[i]!.normal, word.normal) <= 0.6,
    );
    if (found >= 0) at = found + 1;
    else others.push(words[tokens[i]!.word]!.confidence);
  }
  const sure = others.filter((confidence) => confidence >= SURE).length;
  return sure >= 2 && sure >= SURE_SHARE * (end - from);
}
