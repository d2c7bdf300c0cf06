/** Stage 4, fillers: recognizes regions that align with a filler again, with context. Those with a word are kept. */
import type { Recognition, Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import { fromSeconds, type Span, type Ticks } from "../../time";
import type { AudioActivity } from "../audio-activity";
import { type PlanSteps, requestRecognitions } from "../context";
import { durationOf, indexEndingAfter, overlapDuration } from "../spans";
import { trimWordsAtPauses } from "../word-timing";
import { ARTICLES, FILLER_HOMOPHONES, isFillerText } from "./filler-words";

/** A region that aligns with a filler. `alignment` is the mean log probability. */
export type AlignedRegion = { region: Span; alignment: number };

const CONTEXT_TICKS = fromSeconds(2);
/** Maximum audio to recognize again: a share of the recording, and a minimum for short ones. */
const MAX_RECOGNIZED_SHARE = 0.03;
const MIN_BUDGET_TICKS = fromSeconds(60);
/** Without a second recognition, a region counts as a filler only if it aligns at least this well. */
const MIN_SURE_ALIGNMENT = -2;
/** Minimum confidence of a found word: in general, where a filler aligns well, and for words like fillers. */
const MIN_CONFIDENCE = 0.2;
const MIN_CONFIDENCE_OVER_FILLER = 0.5;
const MIN_VOWEL_CONFIDENCE = 0.6;
const MIN_HOMOPHONE_CONFIDENCE = 0.8;
const GOOD_ALIGNMENT = -1.6;
/** Words that are little more than a vowel. */
const VOWEL_WORDS = new Set([...ARTICLES, ..."ah are eh he i oh or".split(" ")]);

/** Returns for each region whether it is a filler, with no word in it. `words` are those of the transcript. */
export function* confirmFillers(
  aligned: readonly AlignedRegion[],
  words: readonly Word[],
  activity: AudioActivity,
): PlanSteps<boolean[]> {
  const chosen = fitToBudget(aligned, activity.duration);
  const requests = chosen.map((one) => ({ window: toWindow(one, activity.duration) }));
  const results = yield* requestRecognitions(requests);
  const isFiller = new Map(
    chosen.map((one, i) => [one, !hasWord(one, requests[i]!.window, results[i]!, words, activity)]),
  );
  return aligned.map((one) => isFiller.get(one) ?? one.alignment >= MIN_SURE_ALIGNMENT);
}

const toWindow = ({ region }: AlignedRegion, duration: Ticks): Span => ({
  start: Math.max(0, region.start - CONTEXT_TICKS),
  end: Math.min(duration, region.end + CONTEXT_TICKS),
});

/** Returns the regions to recognize again within the budget, starting with those that align worst. */
function fitToBudget(aligned: readonly AlignedRegion[], duration: Ticks): AlignedRegion[] {
  let left = Math.max(MIN_BUDGET_TICKS, MAX_RECOGNIZED_SHARE * duration);
  const chosen = new Set<AlignedRegion>();
  for (const one of [...aligned].sort((a, b) => a.alignment - b.alignment)) {
    left -= durationOf(toWindow(one, duration));
    if (left < 0) break;
    chosen.add(one);
  }
  return aligned.filter((one) => chosen.has(one));
}

/** Returns whether a word was found in a region that the transcript does not have next to it. */
function hasWord(
  { region, alignment }: AlignedRegion,
  window: Span,
  again: Recognition,
  words: readonly Word[],
  activity: AudioActivity,
): boolean {
  const trimmed = trimWordsAtPauses(again.words, activity);
  const neighbors = listTexts(words.filter((word) => overlapDuration(word, window) > 0 && !isMostlyIn(word, region)));
  // If nothing of the transcript was recognized again, the result says nothing about the region.
  if (again.words.length === 0 && neighbors.length > 0) return alignment < MIN_SURE_ALIGNMENT;
  const found = trimmed.filter((word) => isMostlyIn(word, region) && isCertain(word, alignment));
  const texts = listTexts(again.words);
  // A recognizer stretches a word over the adjacent filler.
  return found.some((word) =>
    normalizeWords(word.text).some((text) => countText(texts, text) > countText(neighbors, text)),
  );
}

/** Returns whether a word is certain enough to stay, given the alignment of a filler there. */
function isCertain({ text, confidence }: Word, alignment: number): boolean {
  const normal = normalizeWords(text).join(" ");
  if (normal === "" || isFillerText(text)) return false;
  if (FILLER_HOMOPHONES.has(normal)) return confidence >= MIN_HOMOPHONE_CONFIDENCE;
  if (VOWEL_WORDS.has(normal)) return confidence >= MIN_VOWEL_CONFIDENCE;
  return confidence >= (alignment >= GOOD_ALIGNMENT ? MIN_CONFIDENCE_OVER_FILLER : MIN_CONFIDENCE);
}

const listTexts = (words: readonly Word[]): string[] => words.flatMap(({ text }) => normalizeWords(text));
const countText = (texts: readonly string[], text: string): number => texts.filter((other) => other === text).length;

/** Returns whether a word is mostly inside a span, or fills most of it. */
export const isMostlyIn = (word: Span, span: Span): boolean =>
  overlapDuration(word, span) > 0.5 * Math.min(durationOf(word), durationOf(span));

/** Returns the indices of the words that are mostly inside a span, or that fill most of it. */
export function findWordsIn(words: readonly Word[], span: Span): number[] {
  const out: number[] = [];
  for (let i = Math.max(0, indexEndingAfter(words, span.start) - 2); i < words.length; i++) {
    const word = words[i]!;
    if (word.start >= span.end) break;
    if (isMostlyIn(word, span)) out.push(i);
  }
  return out;
}
