/**
 * Passages with the texts that users have corrected in a cut, or that its script has, so that a search finds both the
 * recognized and the corrected text.
 */
import type { PlanJson } from "../plan-json";
import { applyTexts, type EditedText } from "../plan-texts";
import { findOverlapping } from "../planning/spans";
import type { Word } from "../speech";
import { correctWords } from "../subtitles/corrected-words";
import { findFirst, fromSeconds, type Span, spanFromSeconds, type Ticks, toSeconds } from "../time";
import { cleanWord, createPassage, listWords, MAX_PASSAGE_WORDS, type Passage, type SpokenWord } from "./passages";
import { toWords } from "./query";
import { splitUnspaced } from "./scripts";

/**
 * Between the lines of a stored passage: the transcript's text, and the corrected ones. The character for private use
 * is a word of the index that no text has, so that a phrase is never found across two lines.
 */
export const LINE_SEPARATOR = "\n\ue000\n";

/** A word belongs to a text that contains this much of its start. Its own end is not stored. */
const WORD_START_MS = 20;
/** Times of words are stored in steps of 10 ms. */
const ROUNDING_MS = 6;
/** Text beyond this is not searchable. Spoken passages are never this long. */
const MAX_CHARACTERS = 4_000;

/** The words of a corrected text; in scripts without spaces, its characters. Times are in whole milliseconds. */
export type CorrectedText = Span & { words: string[] };

export function splitText({ text, start, end }: SpokenWord): CorrectedText {
  const parts = text.normalize("NFC").split(/\s+/u).flatMap(splitUnspaced);
  const words = parts.flatMap((part) => cleanWord({ text: part, start, end })).map((word) => word.text);
  const from = Math.round(start);
  return { words, start: from, end: Math.max(from + 1, Math.round(end)) };
}

/** Lists the words of a passage without those of the next one that it repeats. */
export function listOwnWords(passage: Omit<Passage, "isUnspaced">): SpokenWord[] {
  const words = listWords(passage);
  return words.slice(0, countOwnWords(passage, words));
}

/**
 * Lists the words that a segment of a plan has from a script, where they differ from the recognized ones by more than
 * punctuation and `texts` has not corrected them. `spoken` and `texts` (disjoint, in seconds) are sorted.
 */
export function listScriptTexts(
  segment: PlanJson["segments"][number],
  spoken: readonly SpokenWord[],
  texts: readonly EditedText[],
): EditedText[] {
  const span = spanFromSeconds(segment);
  const indexIn = (seconds: number): number =>
    findFirst(spoken.length, (n) => spoken[n]!.start + WORD_START_MS >= seconds * 1000);
  const words = spoken.slice(indexIn(segment.start), indexIn(segment.end)).map(({ text, start }): Word => {
    const at = fromSeconds(start / 1000);
    return { text, start: at, end: at + fromSeconds((2 * WORD_START_MS) / 1000), confidence: 1 };
  });
  const recognized = new Map<Ticks, string>(words.map(({ start, text }) => [start, toWords(text)]));
  // The plan has each word of a corrected text.
  const corrected = applyTexts(words, findOverlapping(texts, segment)).words.flatMap((word) =>
    word.text.split(/\s+/u).map((text) => ({ ...word, text })),
  );
  const indexFrom = (time: Ticks): number => findFirst(words.length, (n) => words[n]!.start >= time);
  return (
    correctWords(corrected, [span], [])
      // Words that replace a longer stretch have no times of their own.
      .filter(({ start, end }) => indexFrom(end) - indexFrom(start) <= MAX_PASSAGE_WORDS)
      .filter(({ start, text }) => recognized.get(start) !== toWords(text))
      .map(({ start, end, text }) => ({ start: toSeconds(start), end: toSeconds(end), text }))
      .filter((text) => findOverlapping(texts, text).length === 0)
  );
}

/**
 * Returns the passage with the texts (sorted, disjoint) in place of the words in their spans. Null if they add nothing
 * to it. Times are in milliseconds.
 */
export function correctPassage(passage: Omit<Passage, "isUnspaced">, texts: readonly CorrectedText[]): Passage | null {
  const inside = listInside(passage, texts);
  if (inside.length === 0) return null;
  const words = listWords(passage);
  const ownEnd = words[countOwnWords(passage, words)]?.start ?? Number.POSITIVE_INFINITY;
  const kept = words.filter((word) => !inside.some((one) => isIn(word, one)));
  const shown: SpokenWord[] = [];
  for (const one of inside) {
    // Each word has a character.
    if (shown.length >= MAX_CHARACTERS) break;
    shown.push(...placeWords(one, words, passage));
  }
  if (shown.length === 0) return null;
  const all = limitLength([...kept, ...shown].sort((a, b) => a.start - b.start));
  const own = all.filter(({ start }) => start < ownEnd - ROUNDING_MS).length;
  if (own === 0) return null;
  const corrected = createPassage(all, 0, own);
  return corrected.text.trimEnd() === passage.text.trimEnd() ? null : corrected;
}

function listInside({ start, end }: Span, texts: readonly CorrectedText[]): CorrectedText[] {
  const first = findFirst(texts.length, (n) => texts[n]!.end > start - ROUNDING_MS);
  const after = findFirst(texts.length, (n) => texts[n]!.start >= end);
  return texts.slice(first, after);
}

function limitLength(words: SpokenWord[]): SpokenWord[] {
  let room = MAX_CHARACTERS;
  return words.filter(({ text }) => {
    room -= text.length + 1;
    return room >= 0;
  });
}

function countOwnWords({ text, ownLength }: Pick<Passage, "text" | "ownLength">, words: readonly SpokenWord[]): number {
  let [own, from] = [0, 0];
  for (const word of words) {
    from = text.indexOf(word.text, from);
    if (from >= ownLength) break;
    from += word.text.length;
    own++;
  }
  return own;
}

function isIn({ start, end }: SpokenWord, text: Span): boolean {
  const at = start + Math.min(WORD_START_MS, (end - start) / 2);
  return at >= text.start && at < text.end;
}

/**
 * Returns the words of a text in the passage. They have the times of as many words that they replace, or share the span
 * of the text.
 */
function placeWords(text: CorrectedText, words: readonly SpokenWord[], { start, end }: Span): SpokenWord[] {
  const replaced = words.filter((word) => isIn(word, text));
  const step = (text.end - text.start) / text.words.length;
  const isWhole = text.start >= start - ROUNDING_MS && text.end <= end + ROUNDING_MS;
  const times = isWhole && replaced.length === text.words.length ? replaced : null;
  const from = times ? 0 : Math.max(0, Math.ceil((start - ROUNDING_MS - text.start) / step));
  return text.words
    .slice(from, from + MAX_CHARACTERS)
    .map((word, n) => {
      const at = text.start + (from + n) * step;
      return { text: word, start: times?.[n]?.start ?? Math.round(at), end: times?.[n]?.end ?? Math.round(at + step) };
    })
    .filter((word) => word.start >= start - ROUNDING_MS && word.start < end);
}
