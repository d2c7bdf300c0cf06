/**
 * Is what was said here said again there? Two takes of one sentence can be misheard in different ways, so the words of the one are held
 * against the sound of the other: as far as they were spoken there they fit, and from the first that was not they do not.
 */

import type { AlignedWord, ForcedAlignment, Word } from "../../speech";
import { fromSeconds, type Ticks } from "../../time";
import { isUsableAlignment } from "../alignments";
import type { PlanSteps } from "../context";
import type { Token } from "../tokens";
import { listRepetitionPairs, type RepetitionPair, textFrom, windowAround, wordsFrom } from "./repetition-pairs";

/**
 * The first `spoken` words from `again` on were also spoken in `[from, end)`; after them the attempt goes on for `rest`. `weak`: they fit
 * no better than words may that were not spoken.
 */
export type AcousticRepetition = {
  from: number;
  retakeStart: number;
  end: number;
  spoken: number;
  rest: Ticks;
  weak: boolean;
};
/** What the sound says about pairs of beginnings. `different`: pairs in which a word in the midst of the one is not in the other. */
export type AcousticRepetitions = { found: AcousticRepetition[]; different: { from: number; retakeStart: number }[] };

/** A word that was spoken fits better than this, one that was not worse. */
const SPOKEN = -3;
/** The words that were spoken fit at least this well on the whole. */
const LEAST_MEAN = -2.4;
const WEAK_MEAN = -1.5;
/** A word between words that fit is another word when it fits no better than this. */
const MISFIT = -6.5;
const SLIGHT_MISFIT = -4.5;
const MADE_OUT = 0.5;
/** Of the attempt's words so many must be the later take's. */
const LEAST_SHARE = 0.6;
/** A word of one take may come so much later than in the other. */
const SLOWER = 1.6;
const LATE = fromSeconds(0.35);

/** Finds the echoes between beginnings of phrases that are spelled at all alike, or that follow each other closely. */
export function* findAcousticRepetitions(
  words: readonly Word[],
  tokens: readonly Token[],
  duration: Ticks,
): PlanSteps<AcousticRepetitions> {
  const pairs = listRepetitionPairs(words, tokens);
  const told = pairs.map((pair) => ({ pair, text: textFrom(words, tokens, pair.retakeStart, pair.count) }));
  const forward = told.filter(({ text }) => text !== "");
  const answers = yield forward.map(({ pair: { from, until }, text }) => ({
    window: windowAround(tokens, from, until, duration),
    text,
  }));
  const found: AcousticRepetition[] = [];
  const contradictedByAudio = new Set<RepetitionPair>();
  for (const [i, { pair }] of forward.entries()) {
    const alignment = answers[i];
    const acoustic = isUsableAlignment(alignment) ? laterInEarlier(pair, alignment, tokens) : null;
    if (acoustic) found.push(acoustic);
    const told = wordsFrom(tokens, pair.retakeStart, pair.count).map((index) => words[index]!);
    if (isUsableAlignment(alignment) && isContradicted(alignment, MISFIT, told)) contradictedByAudio.add(pair);
  }
  const known = new Set(found.map((acoustic) => `${acoustic.from}-${acoustic.retakeStart}`));
  const open = pairs.filter(({ from, end, retakeStart }) => end - from >= 2 && !known.has(`${from}-${retakeStart}`));
  const backward = yield open.map(({ from, retakeStart, end }) => ({
    window: windowAround(tokens, retakeStart, findLineBounds(tokens, from, end, retakeStart), duration),
    text: textFrom(words, tokens, from, end - from),
  }));
  for (const [i, pair] of open.entries()) {
    const alignment = backward[i];
    const acoustic = isUsableAlignment(alignment) ? earlierInLater(pair, pair.end, alignment, tokens) : null;
    if (!acoustic) continue;
    found.push(acoustic);
    contradictedByAudio.delete(pair);
  }
  return { found, different: [...contradictedByAudio].map(({ from, retakeStart }) => ({ from, retakeStart })) };
}

/** How many of the words, from the first on, were spoken: where the odds turn for good. */
export function spokenPrefix(logProbs: readonly number[]): number {
  let sum = 0;
  let best = 0;
  let count = 0;
  for (const [i, logProb] of logProbs.entries()) {
    sum += Math.max(logProb, -12) - SPOKEN;
    if (sum <= best) continue;
    best = sum;
    count = i + 1;
  }
  return count;
}

const fitting = (alignment: ForcedAlignment) => spokenPrefix(alignment.words.map((word) => word.logProb));

const meanOf = (words: readonly AlignedWord[], count: number) =>
  words.slice(0, count).reduce((sum, word) => sum + word.logProb, 0) / count;

/** The words that fit do so well, from the first on, or from the second when the first may be misspelled. */
function fitsWell({ words }: ForcedAlignment, fits: number): boolean {
  const [first, second] = words;
  if (!first || fits === 0 || meanOf(words, fits) < LEAST_MEAN) return false;
  if (first.logProb >= -3.5 || (second !== undefined && second.logProb >= -1.5)) return true;
  return fits >= 5 && fits >= 0.8 * words.length;
}

/**
 * A word that does not fit at all between words that do: not a broken off take, another sentence. It means nothing when the recogniser
 * did not make that word out: `told` are the words as they were heard, when they are known.
 */
function isContradicted({ words }: ForcedAlignment, misfit: number, told: readonly Word[] = []): boolean {
  return words.some((word, i) => {
    const [before, after] = [words[i - 1], words[i + 1]];
    if (told.length === words.length && told[i]!.confidence < MADE_OUT) return false;
    if (!before || !after || word.logProb > misfit || before.logProb < -1.5 || after.logProb < -1) return false;
    const further = words[i + 2];
    return further === undefined || further.logProb > -3;
  });
}

/**
 * A recogniser that is told the middle of a text finds it, wherever it is, so the words must also lie about where they lie in the take
 * that they come from.
 */
function inPlace(alignment: ForcedAlignment, fits: number, start: Ticks, own: (share: number) => Ticks): boolean {
  for (let k = 1; k < fits; k++) {
    if (alignment.words[k]!.start - start > SLOWER * own(k / alignment.words.length) + LATE) return false;
  }
  return true;
}

/** The later take's words, held against the earlier attempt. */
function laterInEarlier(
  { from, retakeStart, until, count }: RepetitionPair,
  alignment: ForcedAlignment,
  tokens: readonly Token[],
): AcousticRepetition | null {
  const fits = fitting(alignment);
  const spoken = Math.round((fits / alignment.words.length) * count);
  if (spoken === 0 || !fitsWell(alignment, fits)) return null;
  const own = (share: number) =>
    tokens[retakeStart + Math.min(count - 1, Math.round(share * count))]!.start - tokens[retakeStart]!.start;
  if (!inPlace(alignment, fits, tokens[from]!.start, own)) return null;
  const fitsUntil = alignment.words[fits - 1]!.end;
  const end = attemptEnd(tokens, { from, retakeStart, until }, spoken, fitsUntil);
  if (end === null || spoken < LEAST_SHARE * (end - from)) return null;
  const weak = meanOf(alignment.words, fits) < WEAK_MEAN;
  return { from, retakeStart, end, spoken, rest: Math.max(0, tokens[end - 1]!.end - fitsUntil), weak };
}

/** The earlier attempt's words, held against the later take: all of them, but for one that was broken off, must be there. */
function earlierInLater(
  { from, retakeStart }: RepetitionPair,
  end: number,
  alignment: ForcedAlignment,
  tokens: readonly Token[],
): AcousticRepetition | null {
  const fits = fitting(alignment);
  const all = alignment.words.length;
  if (fits < Math.max(2, all - 1) || !fitsWell(alignment, fits) || isContradicted(alignment, SLIGHT_MISFIT))
    return null;
  const own = (share: number) =>
    tokens[from + Math.min(end - from - 1, Math.round(share * (end - from)))]!.start - tokens[from]!.start;
  if (!inPlace(alignment, fits, tokens[retakeStart]!.start, own)) return null;
  const until = alignment.words[fits - 1]!.end;
  let spoken = 1;
  while (
    tokens[retakeStart + spoken] &&
    (tokens[retakeStart + spoken]!.start + tokens[retakeStart + spoken]!.end) / 2 <= until
  )
    spoken++;
  return { from, retakeStart, end, spoken, rest: 0, weak: meanOf(alignment.words, fits) < WEAK_MEAN };
}

/** How many heard words from `again` on may hold an attempt. */
function findLineBounds(tokens: readonly Token[], from: number, end: number, retakeStart: number): number {
  const length = 1.5 * (tokens[end - 1]!.end - tokens[from]!.start) + fromSeconds(0.5);
  let until = retakeStart + 1;
  while (until < tokens.length && tokens[until]!.end - tokens[retakeStart]!.start <= length) until++;
  return until;
}

/** Where the earlier attempt ends: at the pause nearest to the last word that fits. Null when much more was said than those words. */
function attemptEnd(
  tokens: readonly Token[],
  { from, retakeStart, until }: Pick<RepetitionPair, "from" | "retakeStart" | "until">,
  spoken: number,
  fitsUntil: Ticks,
): number | null {
  const start = tokens[from]!.start;
  const later = tokens[retakeStart + spoken - 1]!.end - tokens[retakeStart]!.start;
  const next = tokens[retakeStart + spoken];
  const slack = fromSeconds(0.12) + (next ? Math.min(fromSeconds(0.6), 0.7 * (next.end - next.start)) : 0);
  let best: number | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (let end = from + 1; end <= until; end++) {
    const pause = (tokens[end]?.start ?? Number.POSITIVE_INFINITY) - tokens[end - 1]!.end;
    if (end !== retakeStart && pause < fromSeconds(0.12)) continue;
    const length = tokens[end - 1]!.end - start;
    const off = Math.abs(tokens[end - 1]!.end - fitsUntil) + 0.5 * Math.abs(length - later);
    if (length < 0.6 * later - fromSeconds(0.15) || length > 1.3 * later + slack || off >= smallest) continue;
    smallest = off;
    best = end;
  }
  return best;
}
