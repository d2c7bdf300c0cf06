/**
 * Finds fillers: "um" and "uh" in the transcript that are isolated or stretched, and those that the recognizer spells
 * as another word or omits. Short isolated regions are force-aligned with "um", "uh" and "hmm", and with the words that
 * they could be instead.
 */

import type { AlignmentRequest, ForcedAlignment, Recognition, Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import type { Span, Ticks } from "../../time";
import { type AudioActivity, measureContrast } from "../audio-activity";
import {
  fitRecognitionBudget,
  isUsableAlignment,
  type PlanSteps,
  requestAlignmentsOf,
  requestRecognitions,
} from "../context";
import { isContentWord, isFillerText, isOpenWord, type Lexicon } from "../lexicon/lexicon";
import { findListenerAnswers } from "../other-voices";
import type { RuleMatch } from "../rules";
import { coveredDuration, durationOf, indexEndingAfter, isMostlyIn, overlapDuration } from "../spans";
import { ACTIVITY, COMMON, FILLERS } from "../thresholds";
import { pauseBefore, trimWordsAtPauses } from "../tokens";

export type FillerMatch = RuleMatch<"filler.written" | "filler.unwritten">;
/** The filler spans, the rules for words that are fillers, by index, and the spans said by a listener. */
export type UnwrittenFillers = {
  spans: (Span & { match: FillerMatch })[];
  words: Map<number, FillerMatch>;
  answers: ReadonlySet<Span>;
};

/** A short isolated region. `words` were recognized in it, `pause` is the shorter of the surrounding pauses. */
type FillerCandidate = {
  region: Span;
  pause: Ticks;
  words: number[];
  requests: AlignmentRequest[];
};

/** Aligns each short isolated region of a recording and returns the fillers. */
export function* findUnwrittenFillers(
  words: readonly Word[],
  activity: AudioActivity,
  lexicon: Lexicon,
): PlanSteps<UnwrittenFillers> {
  const candidates = listFillerCandidates(words, activity, lexicon);
  const results = yield* requestAlignmentsOf(candidates);
  const matches = candidates.flatMap((candidate, i) => {
    const match = matchFiller(candidate, words, results[i]!.map(scoreOf), lexicon);
    return match === null ? [] : [{ candidate, match }];
  });
  const aligned = matches.flatMap(({ candidate: { region }, match }) =>
    match.rule === "filler.written" ? [] : [{ region, alignment: match.scores.alignment }],
  );
  const confirmed = yield* confirmFillers(aligned, words, activity, lexicon);
  const refuted = new Set(aligned.filter((_, i) => !confirmed[i]).map(({ region }) => region));
  const fillers = matches.filter(({ candidate }) => !refuted.has(candidate.region));
  const answers = yield* findListenerAnswers(
    fillers.map(({ candidate }) => candidate.region),
    words,
    activity,
    lexicon,
  );
  const found: UnwrittenFillers = { spans: [], words: new Map(), answers };
  for (const { candidate, match } of fillers) {
    if (answers.has(candidate.region)) continue;
    found.spans.push({ ...candidate.region, match });
    for (const word of candidate.words) found.words.set(word, match);
  }
  return found;
}

const scoreOf = (alignment: ForcedAlignment) =>
  isUsableAlignment(alignment) ? alignment.meanLogProb : Number.NEGATIVE_INFINITY;

function listFillerCandidates(words: readonly Word[], activity: AudioActivity, lexicon: Lexicon): FillerCandidate[] {
  const { speechRegions, duration } = activity;
  return speechRegions.flatMap((region, i) => {
    const length = durationOf(region);
    const before = region.start - (speechRegions[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (speechRegions[i + 1]?.start ?? Number.POSITIVE_INFINITY) - region.end;
    const pause = Math.min(before, after, duration);
    if (length < COMMON.minDuration || length > COMMON.maxFiller || pause < ACTIVITY.minRestartPause) return [];
    if (!isClear(region, activity)) return [];
    const inside = findWordsIn(words, region);
    const window = {
      start: Math.max(0, region.start - COMMON.padding),
      end: Math.min(duration, region.end + COMMON.padding),
    };
    if (inside.length > 1) return [];
    const others = inside[0] === undefined ? lexicon.shortWords : toReadings(words[inside[0]]!.text);
    const requests = [...lexicon.fillerTexts, ...others].map((text) => ({ window, text }));
    return [{ region, pause, words: inside, requests }];
  });
}

/** Returns a word as written when it stands alone: a recognizer expects a capital letter and punctuation. */
function toReadings(text: string): string[] {
  const plain = text.replace(/(?<![^\p{L}\p{N}'])[^\p{L}\p{N}']+$/u, "");
  const capital = plain.slice(0, 1).toUpperCase() + plain.slice(1);
  return [...new Set([text, `${capital}.`, `${capital},`])];
}

/** Decides by how well a region aligns with each filler and with each word that it could be instead. */
function matchFiller(
  { region, pause, words: [index] }: FillerCandidate,
  words: readonly Word[],
  scores: readonly number[],
  lexicon: Lexicon,
): FillerMatch | null {
  const alignment = Math.max(...scores.slice(0, lexicon.fillerTexts.length));
  const otherAlignment = Math.max(...scores.slice(lexicon.fillerTexts.length));
  const word = index === undefined ? null : words[index]!;
  if (word && isFillerText(word.text, lexicon))
    return { rule: "filler.written", scores: { duration: durationOf(region), pause } };
  if (!isFillerAlignment(alignment, otherAlignment, word, pause, lexicon)) return null;
  return {
    rule: "filler.unwritten",
    scores: {
      alignment,
      otherAlignment: Number.isFinite(otherAlignment) ? otherAlignment : null,
      confidence: word?.confidence ?? null,
    },
  };
}

function isFillerAlignment(filler: number, other: number, word: Word | null, pause: Ticks, lexicon: Lexicon): boolean {
  if (word === null) {
    const maxLag = pause >= COMMON.minTakePause ? FILLERS.maxLagIsolated : FILLERS.minDifference;
    return filler >= COMMON.minPossibleAlignment && filler >= other - maxLag;
  }
  const normal = normalizeWords(word.text, lexicon.language).join(" ");
  if (filler < COMMON.minPossibleAlignment || normal.length > COMMON.longWordCharacters) return false;
  const isIsolated = pause >= COMMON.minTakePause;
  // Function words are hardly ever spoken alone, and one that is as unsure as this counts as not recognized.
  if (isIsolated && !isContentWord(normal, lexicon) && word.confidence <= COMMON.minConfidence)
    return filler >= other - FILLERS.minDifference;
  const isUnsure = isOpenWord(normal, lexicon) && word.confidence < COMMON.sureWordConfidence;
  if (isIsolated && (isUnsure || lexicon.articles.has(normal))) return filler >= other - FILLERS.maxLagOpenWord;
  const isHomophone = lexicon.fillerHomophones.has(normal);
  const lead = isHomophone ? -FILLERS.maxLagIsolated : FILLERS.minDifference;
  const isUncertain = word.confidence < COMMON.likelyWordConfidence || (isIsolated && isHomophone);
  return isUncertain && filler >= other + lead;
}

/** Returns whether speech near a span stands out enough from the background to distinguish a filler from a word. */
export const isClear = (span: Span, activity: AudioActivity): boolean =>
  measureContrast(activity, span) >= COMMON.minContrastDb;

/**
 * Returns the words that are fillers, by index: those with a pause on at least one side, or stretched ones. A filler
 * that runs into a word with the same vowel or consonant stays, because there is no place to cut between the two.
 */
export function findFillers(
  words: readonly Word[],
  activity: AudioActivity,
  lexicon: Lexicon,
): Map<number, RuleMatch<"filler.written">> {
  const found = new Map<number, RuleMatch<"filler.written">>();
  for (const [i, word] of words.entries()) {
    if (!isFillerText(word.text, lexicon)) continue;
    const text = normalizeWords(word.text, lexicon.language)[0]!;
    const next = words[i + 1];
    const before = pauseBefore(words, i);
    const after = next ? pauseBefore(words, i + 1) : COMMON.longPause;
    const duration = word.end - word.start;
    const isApart = lexicon.ambiguousFillers.test(text)
      ? Math.min(before, after) >= COMMON.minDuration
      : Math.max(before, after) >= COMMON.minDuration || duration >= COMMON.minWordDuration;
    if (!isApart || coveredDuration(activity.speechRegions, word) > COMMON.maxFiller) continue;
    if (next && after < COMMON.minDuration && runsInto(text, next, lexicon)) continue;
    if (!isClear(word, activity)) continue;
    found.set(i, { rule: "filler.written", scores: { duration, pause: Math.max(before, after) } });
  }
  return found;
}

/** Returns whether a word begins with the sound that ends the filler: a vowel after "uh", "m" after "um". */
function runsInto(filler: string, next: Word, { language }: Lexicon): boolean {
  const first = normalizeWords(next.text, language)[0]?.[0] ?? "";
  return filler.endsWith("m") ? first === "m" : first !== "" && "aeiou".includes(first);
}

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
  start: Math.max(0, region.start - ACTIVITY.maxWord),
  end: Math.min(duration, region.end + ACTIVITY.maxWord),
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
