/**
 * Stage 3: decides which stretches of the transcript to trust. A recognizer also writes words for noise, and for speech
 * in a language that it does not know; their log probabilities are low, or the text repeats. Measured on whole
 * recordings: a mean log probability below -0.55, or repeated 4-grams in a quarter of 25 words or more, detects 40 of
 * 40 in foreign languages and 1 of 79 in English. Recordings with many retakes repeat as much, but are recognized with
 * more certainty (-0.09 to -0.17), so repetition alone counts only if it is a loop.
 */
import type { Transcript, Utterance, Word } from "../speech";
import { fromSeconds, type Span, type Ticks } from "../time";
import { durationOf, overlapDuration } from "./spans";

/**
 * The words to plan with, the stretches that were not understood (sorted, disjoint), and where the recognizer wrote
 * words in them: there is sound at these positions, even without voice activity.
 */
export type UnderstoodSpeech = { transcript: Transcript; notUnderstood: Span[]; ignoredWords: Span[] };

/** Mean log probability below which a recording is not understood. */
const MIN_MEAN_LOG_PROB = -0.55;
/** Log probability above which an utterance is understood in a recording that is not. */
const MIN_EXCEPTION_LOG_PROB = -0.2;
/** Mean log probability of an utterance and its neighborhood below which the utterance is not understood. */
const MIN_LOCAL_LOG_PROB = -0.6;
/** Log probability above which an utterance between two that are not understood is understood. */
const MIN_BETWEEN_LOG_PROB = -0.3;
/** Extent of the neighborhood of an utterance, on each side. */
const NEIGHBORHOOD: Ticks = fromSeconds(15);
const NGRAM_WORDS = 4;
const MIN_WORDS_FOR_NGRAMS = 25;
const MAX_REPEATED_SHARE = 0.25;
/** Mean log probability above which repeated words are retakes. */
const MIN_RETAKES_LOG_PROB = -0.35;
/** A loop repeats a 4-gram within this many words. */
const MAX_LOOP_WORDS = 8;
/** If words cover less than this share of the voiced time, the recognizer found almost none. */
const MIN_COVERED_SHARE = 0.2;
/** Minimum amount of voice for a decision. */
const MIN_VOICE: Ticks = fromSeconds(1.5);
/** A sentence in another language may be recognized as nothing, but not several. */
const MIN_LONG_VOICE: Ticks = fromSeconds(8);

/** Separates what was understood from what was not. */
export function findUnderstoodSpeech(transcript: Transcript, speech: readonly Span[]): UnderstoodSpeech {
  const utterances = [...transcript.utterances].sort((a, b) => a.start - b.start);
  if (hasAlmostNoWords(transcript, speech, MIN_VOICE)) return ignoreWords(transcript, [...speech], true);
  const isWhole = isNotUnderstoodAsWhole(transcript, meanLogProb(utterances));
  const garbled = isWhole
    ? utterances.filter((one) => one.meanLogProb < MIN_EXCEPTION_LOG_PROB)
    : findGarbledUtterances(utterances);
  if (garbled.length === 0) return { transcript, notUnderstood: [], ignoredWords: [] };
  const notUnderstood = joinSpans([...garbled, ...silentNeighbors(speech, utterances, garbled)]);
  return ignoreWords(transcript, notUnderstood, false);
}

/** Returns how much of the voice activity is in stretches that were not understood. Both are sorted and disjoint. */
export const measureNotUnderstood = (notUnderstood: readonly Span[], speech: readonly Span[]): Ticks =>
  coveredBy(notUnderstood, speech);

function coveredBy(spans: readonly Span[], speech: readonly Span[]): Ticks {
  let sum = 0;
  let first = 0;
  for (const span of speech) {
    while (first < spans.length && spans[first]!.end <= span.start) first++;
    for (let i = first; i < spans.length && spans[i]!.start < span.end; i++) sum += overlapDuration(spans[i]!, span);
  }
  return sum;
}

/** Returns whether there are almost no words in the voice activity, of which there is at least `minVoice`. */
function hasAlmostNoWords({ words }: Transcript, speech: readonly Span[], minVoice: Ticks): boolean {
  const voice = speech.reduce((sum, span) => sum + durationOf(span), 0);
  return voice >= minVoice && coveredBy(joinSpans(words), speech) < MIN_COVERED_SHARE * voice;
}

/** Returns whether the detected voice is music or noise: it is long, and has almost no words. */
export const isVoiceWithoutWords = (transcript: Transcript, speech: readonly Span[]): boolean =>
  hasAlmostNoWords(transcript, speech, MIN_LONG_VOICE);

function meanLogProb(utterances: readonly Utterance[]): number {
  let sum = 0;
  let weight = 0;
  for (const one of utterances) {
    sum += durationOf(one) * one.meanLogProb;
    weight += durationOf(one);
  }
  return weight === 0 ? 0 : sum / weight;
}

function isNotUnderstoodAsWhole(transcript: Transcript, mean: number): boolean {
  if (mean < MIN_MEAN_LOG_PROB) return true;
  const { repeated, looped } = measureRepetition(transcript);
  return looped >= MAX_REPEATED_SHARE || (repeated >= MAX_REPEATED_SHARE && mean < MIN_RETAKES_LOG_PROB);
}

/** Returns the shares of 4-grams that occur repeatedly, and that repeat in a loop; 0 for a short transcript. */
function measureRepetition({ words }: Transcript): { repeated: number; looped: number } {
  const tokens = words
    .map(({ text }) => text.toLowerCase().replace(/[^\p{L}\p{N}']/gu, ""))
    .filter((text) => text !== "");
  if (tokens.length < MIN_WORDS_FOR_NGRAMS) return { repeated: 0, looped: 0 };
  const seen = new Map<string, { count: number; last: number }>();
  const total = tokens.length - NGRAM_WORDS + 1;
  let looped = 0;
  for (let i = 0; i < total; i++) {
    const ngram = tokens.slice(i, i + NGRAM_WORDS).join(" ");
    const before = seen.get(ngram);
    if (before && i - before.last <= MAX_LOOP_WORDS) looped++;
    seen.set(ngram, { count: (before?.count ?? 0) + 1, last: i });
  }
  let repeated = 0;
  for (const { count } of seen.values()) if (count > 1) repeated += count;
  return { repeated: repeated / total, looped: looped / total };
}

/** Returns utterances with low log probabilities in a similar neighborhood, and uncertain ones in between. Sorted. */
function findGarbledUtterances(utterances: readonly Utterance[]): Utterance[] {
  const isGarbled = utterances.map(
    (one, i) => (one.meanLogProb + neighborhoodMean(utterances, i)) / 2 < MIN_LOCAL_LOG_PROB,
  );
  const isNear = (i: number, k: number) =>
    isGarbled[k] === true &&
    Math.max(utterances[k]!.start - utterances[i]!.end, utterances[i]!.start - utterances[k]!.end) <= NEIGHBORHOOD;
  return utterances.filter(
    (one, i) => isGarbled[i] || (one.meanLogProb < MIN_BETWEEN_LOG_PROB && isNear(i, i - 1) && isNear(i, i + 1)),
  );
}

function neighborhoodMean(utterances: readonly Utterance[], index: number): number {
  const { start, end } = utterances[index]!;
  let from = index;
  let to = index + 1;
  while (from > 0 && utterances[from - 1]!.end >= start - NEIGHBORHOOD) from--;
  while (to < utterances.length && utterances[to]!.start <= end + NEIGHBORHOOD) to++;
  return meanLogProb(utterances.slice(from, to));
}

/** Returns voice without an utterance whose nearest utterance was not understood: nothing was recognized there. */
function silentNeighbors(
  speech: readonly Span[],
  utterances: readonly Utterance[],
  garbled: readonly Utterance[],
): Span[] {
  const isGarbled = new Set(garbled);
  let next = 0;
  return speech.filter((span) => {
    while (next < utterances.length && utterances[next]!.end <= span.start) next++;
    const after = utterances[next];
    if (after && after.start < span.end) return false;
    const before = utterances[next - 1];
    const isAfterNearer = after && (!before || after.start - span.end < span.start - before.end);
    const nearest = isAfterNearer ? after : before;
    return nearest !== undefined && isGarbled.has(nearest);
  });
}

/** Sorts spans and merges those that touch. */
function joinSpans(spans: readonly Span[]): Span[] {
  const out: Span[] = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else out.push({ start, end });
  }
  return out;
}

/** Removes the words with their middle in one of the spans from a transcript; all of them if `takesAll`. */
function ignoreWords(transcript: Transcript, notUnderstood: Span[], takesAll: boolean): UnderstoodSpeech {
  const words: Word[] = [];
  const ignoredWords: Span[] = [];
  let next = 0;
  for (const word of [...transcript.words].sort((a, b) => a.start + a.end - b.start - b.end)) {
    const middle = (word.start + word.end) / 2;
    while (next < notUnderstood.length && notUnderstood[next]!.end <= middle) next++;
    const span = notUnderstood[next];
    if (takesAll || (span && span.start <= middle)) ignoredWords.push({ start: word.start, end: word.end });
    else words.push(word);
  }
  return { transcript: { ...transcript, words }, notUnderstood, ignoredWords };
}
