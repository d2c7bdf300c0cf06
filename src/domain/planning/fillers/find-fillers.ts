/**
 * Finds fillers: "um" and "uh" in the transcript that are isolated or stretched, and those that the recognizer spells
 * as another word or omits. Short isolated regions are force-aligned with "um", "uh" and "hmm", and with the words that
 * they could be instead.
 */

import type { AlignmentRequest, ForcedAlignment, Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import type { Span, Ticks } from "../../time";
import { type AudioActivity, measureContrast } from "../audio-activity";
import { isUsableAlignment, type PlanSteps, requestAlignments } from "../context";
import { isContentWord, isFillerText, isOpenWord, type Lexicon } from "../lexicon/lexicon";
import { findListenerAnswers } from "../other-voices";
import type { RuleMatch } from "../rules";
import { coveredDuration, durationOf } from "../spans";
import { ACTIVITY, COMMON, FILLERS } from "../thresholds";
import { pauseBefore } from "../tokens";
import { confirmFillers, findWordsIn } from "./second-recognition";

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
  const results = yield* requestAlignments(candidates.flatMap((candidate) => candidate.requests));
  const matches: { candidate: FillerCandidate; match: FillerMatch }[] = [];
  let at = 0;
  for (const candidate of candidates) {
    const scores = results.slice(at, at + candidate.requests.length).map(scoreOf);
    at += candidate.requests.length;
    const match = matchFiller(candidate, words, scores, lexicon);
    if (match !== null) matches.push({ candidate, match });
  }
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
    if (length < FILLERS.minFiller || length > COMMON.maxFiller || pause < ACTIVITY.minRestartPause) return [];
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
    const maxLag = pause >= COMMON.minTakePause ? FILLERS.maxLagIsolated : FILLERS.maxLagBehindShortWord;
    return filler >= COMMON.minPossibleAlignment && filler >= other - maxLag;
  }
  const normal = normalizeWords(word.text, lexicon.language).join(" ");
  if (filler < COMMON.minPossibleAlignment || normal.length > COMMON.longWordCharacters) return false;
  const isIsolated = pause >= COMMON.minTakePause;
  // Function words are hardly ever spoken alone, and one that is as unsure as this counts as not recognized.
  if (isIsolated && !isContentWord(normal, lexicon) && word.confidence <= COMMON.minConfidence)
    return filler >= other - FILLERS.maxLagBehindShortWord;
  const isUnsure = isOpenWord(normal, lexicon) && word.confidence < COMMON.sureWordConfidence;
  if (isIsolated && (isUnsure || lexicon.articles.has(normal))) return filler >= other - FILLERS.minLeadOverWord;
  const isHomophone = lexicon.fillerHomophones.has(normal);
  const lead = isHomophone ? -FILLERS.maxLagBehindHomophone : FILLERS.minLeadOverWord;
  const isUncertain = word.confidence < FILLERS.maxConfidence || (isIsolated && isHomophone);
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
      ? Math.min(before, after) >= FILLERS.minPause
      : Math.max(before, after) >= FILLERS.minPause || duration >= FILLERS.minStretched;
    if (!isApart || coveredDuration(activity.speechRegions, word) > COMMON.maxFiller) continue;
    if (next && after < FILLERS.minPause && runsInto(text, next, lexicon)) continue;
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
