/**
 * Recognizes words again that are several times longer than those around them. A recognizer stretches a word over
 * others that it left out, mostly over a retake without a pause: "he would not" said twice becomes "he would not", with
 * a "not" of a second.
 */

import type { Recognition, SpeechAnalysis, Transcript, Word } from "../speech";
import { measureWordDistance, normalizeWords } from "../text/normalize";
import type { Span, Ticks } from "../time";
import { fitRecognitionBudget, type PlanSteps, requestRecognitions } from "./context";
import { coveredDuration, durationOf } from "./spans";
import { ACTIVITY, COMMON, RETAKES } from "./thresholds";
import { sortWords } from "./tokens";

/**
 * A transcript with the words in place of stretched ones. `unclear`: stretched words in whose place others, or no sure
 * ones, were recognized.
 */
type DividedTranscript = { transcript: Transcript | null; unclear: readonly Span[] };

export function* divideStretchedWords(
  { transcript, speech, duration }: SpeechAnalysis,
  language: string | null,
): PlanSteps<DividedTranscript> {
  if (!transcript || transcript.wordTimes === "estimated") return { transcript, unclear: [] };
  const sorted = sortWords(transcript.words);
  const stretched = findStretchedWords(sorted, speech, duration);
  const results = yield* requestRecognitions(stretched.map(({ start, end }) => ({ window: { start, end } })));
  const isSame = (a: Word, b: Word) => isSameWord(a.text, b.text, language);
  const divided = new Map<Word, Word[]>();
  const unclear: Span[] = [];
  for (const [i, word] of stretched.entries()) {
    const again = listWordsWithin(results[i]!, word);
    const before = sorted.slice(0, sorted.indexOf(word)).slice(-COMMON.sentenceWords);
    const pieces = findRetakeWithin(word, again, before, isSame) ?? listSureWords(word, again, isSame);
    if (pieces) divided.set(word, pieces);
    else unclear.push(word);
  }
  const words = transcript.words.flatMap((word) => divided.get(word) ?? [word]);
  return { transcript: divided.size > 0 ? { ...transcript, words } : transcript, unclear };
}

/**
 * Returns the words that are several times longer than those around them for their letters, and are voiced throughout,
 * within the budget.
 */
export function findStretchedWords(words: readonly Word[], speech: readonly Span[], duration: Ticks): Word[] {
  const paces = words.map((word) => durationOf(word) / countLetters(word));
  const stretched = words.filter((word, i) => {
    const length = durationOf(word);
    if (length < COMMON.minPhrase || length > ACTIVITY.maxWindow) return false;
    const near = paces.slice(Math.max(0, i - COMMON.sentenceWords), i + COMMON.sentenceWords + 1).sort((a, b) => a - b);
    if (near.length <= COMMON.sentenceWords / 2) return false;
    if (paces[i]! < ACTIVITY.minStretchedRatio * near[near.length >> 1]!) return false;
    return coveredDuration(speech, word) >= COMMON.minCompleteShare * length;
  });
  const requests = stretched.map((word) => ({ word, window: word }));
  return fitRecognitionBudget(requests, duration).map(({ word }) => word);
}

/** Short words are not spoken in proportion to their letters. */
const countLetters = ({ text }: Word): number => 2 + text.replace(/[^\p{L}\p{N}]/gu, "").length;

/** Returns the words of a recognition, within the word in whose place they are. */
const listWordsWithin = ({ words }: Recognition, { start, end }: Word): Word[] =>
  sortWords(words.map((word) => ({ ...word, start: Math.max(start, word.start), end: Math.min(end, word.end) })));

type IsSame = (a: Word, b: Word) => boolean;

/**
 * Returns the word, the words before it said again, and the word again; null if they were not recognized in its place.
 */
function findRetakeWithin(word: Word, again: readonly Word[], before: readonly Word[], isSame: IsSame): Word[] | null {
  for (let count = Math.min(before.length, again.length); count > 0; count--) {
    const expected = before.slice(-count);
    const from = again.findIndex((_, i) => expected.every((one, k) => again[i + k] && isSame(one, again[i + k]!)));
    const next = again[from + count];
    if (from < 0 || (count === 1 && !(next && isSame(word, next)))) continue;
    const retake = again.slice(from, from + count);
    return fill(word, [word, ...retake, { ...word, start: next?.start ?? retake.at(-1)!.end }]);
  }
  return null;
}

/** Returns the words that were recognized in place of a word if they are sure, and it is one of them. */
function listSureWords(word: Word, again: readonly Word[], isSame: IsSame): Word[] | null {
  const isSure = again.every(({ confidence }) => confidence >= COMMON.minConfidence);
  return isSure && again.some((one) => isSame(one, word)) ? fill(word, again) : null;
}

/** Returns pieces that fill a word, each up to the start of the next one. */
const fill = (word: Span, pieces: readonly Word[]): Word[] =>
  sortWords(
    pieces.map((piece, i) => ({
      ...piece,
      start: i === 0 ? word.start : piece.start,
      end: pieces[i + 1]?.start ?? word.end,
    })),
  );

function isSameWord(a: string, b: string, language: string | null): boolean {
  const [one, other] = [a, b].map((text) => normalizeWords(text, language).join(" "));
  return measureWordDistance(one!, other!) <= RETAKES.maxSameWordDistance;
}
