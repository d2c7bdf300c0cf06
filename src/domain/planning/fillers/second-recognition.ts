/** Stage 4, fillers: recognizes regions that align with a filler again, with context. Those with a word are kept. */

import type { Recognition, Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import type { Span, Ticks } from "../../time";
import type { AudioActivity } from "../audio-activity";
import { fitRecognitionBudget, type PlanSteps, requestRecognitions } from "../context";
import { isFillerText, isOpenWord, type Lexicon } from "../lexicon/lexicon";
import { indexEndingAfter, isMostlyIn, overlapDuration } from "../spans";
import { COMMON, FILLERS } from "../thresholds";
import { trimWordsAtPauses } from "../tokens";

/** A region that aligns with a filler. `alignment` is the mean log probability. */
export type AlignedRegion = { region: Span; alignment: number };

/** Returns for each region whether it is a filler, with no word in it. `words` are those of the transcript. */
export function* confirmFillers(
  aligned: readonly AlignedRegion[],
  words: readonly Word[],
  activity: AudioActivity,
  lexicon: Lexicon,
): PlanSteps<boolean[]> {
  const chosen = chooseRegions(aligned, activity.duration);
  const requests = chosen.map((one) => ({ window: toWindow(one, activity.duration) }));
  const results = yield* requestRecognitions(requests);
  const isFiller = new Map(
    chosen.map((one, i) => [one, !hasWord(one, requests[i]!.window, results[i]!, words, activity, lexicon)]),
  );
  return aligned.map((one) => isFiller.get(one) ?? one.alignment >= COMMON.minAlignment);
}

const toWindow = ({ region }: AlignedRegion, duration: Ticks): Span => ({
  start: Math.max(0, region.start - FILLERS.secondContext),
  end: Math.min(duration, region.end + FILLERS.secondContext),
});

/** Returns the regions to recognize again within the budget, starting with those that align worst. */
function chooseRegions(aligned: readonly AlignedRegion[], duration: Ticks): AlignedRegion[] {
  const sorted = aligned.toSorted((a, b) => a.alignment - b.alignment);
  const requests = sorted.map((one) => ({ one, window: toWindow(one, duration) }));
  const chosen = new Set(fitRecognitionBudget(requests, duration).map(({ one }) => one));
  return aligned.filter((one) => chosen.has(one));
}

/** Returns whether a word was found in a region that the transcript does not have next to it. */
function hasWord(
  { region, alignment }: AlignedRegion,
  window: Span,
  again: Recognition,
  words: readonly Word[],
  activity: AudioActivity,
  lexicon: Lexicon,
): boolean {
  const trimmed = trimWordsAtPauses(again.words, activity);
  const neighbors = listTexts(
    words.filter((word) => overlapDuration(word, window) > 0 && !isMostlyIn(word, region)),
    lexicon,
  );
  // If nothing of the transcript was recognized again, the result says nothing about the region.
  if (again.words.length === 0 && neighbors.length > 0) return alignment < COMMON.minAlignment;
  const found = trimmed.filter((word) => isMostlyIn(word, region) && isCertain(word, alignment, lexicon));
  const texts = listTexts(again.words, lexicon);
  // A recognizer stretches a word over the adjacent filler.
  return found.some((word) =>
    normalizeWords(word.text, lexicon.language).some((text) => countText(texts, text) > countText(neighbors, text)),
  );
}

/** Returns whether a word is certain enough to stay, given the alignment of a filler there. */
function isCertain({ text, confidence }: Word, alignment: number, lexicon: Lexicon): boolean {
  const normal = normalizeWords(text, lexicon.language).join(" ");
  if (normal === "" || isFillerText(text, lexicon)) return false;
  if (lexicon.fillerHomophones.has(normal)) return confidence >= COMMON.sureWordConfidence;
  const isGood = alignment >= COMMON.clearAlignment;
  if (lexicon.vowelWords.has(normal) || isOpenWord(normal, lexicon))
    return confidence >= (isGood ? COMMON.sureWordConfidence : COMMON.minWordConfidence);
  return confidence >= (isGood ? COMMON.minConfidence : FILLERS.minConfidence);
}

const listTexts = (words: readonly Word[], { language }: Lexicon): string[] =>
  words.flatMap(({ text }) => normalizeWords(text, language));
const countText = (texts: readonly string[], text: string): number => texts.filter((other) => other === text).length;

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
