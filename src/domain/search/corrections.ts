/** Passages with the texts that users have corrected in a cut, so that a search finds both what was recognized and what is right. */
import type { Span } from "../time";
import { cleanWord, createPassage, listWords, type Passage, type SpokenWord } from "./passages";

/**
 * Between the lines of a stored passage: the transcript's text, and the corrected ones. The character for private use is a word of the index that
 * no text has, so that a phrase is never found across two lines.
 */
export const LINE_SEPARATOR = "\n\ue000\n";

/** A word belongs to a text that contains this much of its start. Its own end is not stored. */
const WORD_START_MS = 20;
/** Times of words are stored in steps of 10 ms. */
const ROUNDING_MS = 6;
/** Text beyond this is not searchable: nobody says as much in a passage. */
const MAX_CHARACTERS = 4_000;

/**
 * Returns the passage with the texts (sorted, disjoint) in place of the words in their spans. Null if they add nothing to it. Times are in
 * milliseconds.
 */
export function correctPassage(passage: Omit<Passage, "isUnspaced">, texts: readonly SpokenWord[]): Passage | null {
  const words = listWords(passage);
  const ownEnd = words[countOwnWords(passage, words)]?.start ?? Number.POSITIVE_INFINITY;
  const inside = texts.filter((one) => one.start < passage.end && one.end > passage.start - ROUNDING_MS);
  const kept = words.filter((word) => !inside.some((one) => isIn(word, one)));
  const shown = inside
    .flatMap((one) => toWords(one, words, passage))
    .flatMap(cleanWord)
    .filter(({ start }) => start >= passage.start - ROUNDING_MS && start < passage.end);
  if (shown.length === 0) return null;
  const all = limitLength([...kept, ...shown].sort((a, b) => a.start - b.start));
  const own = all.filter(({ start }) => start < ownEnd - ROUNDING_MS).length;
  if (own === 0) return null;
  const corrected = createPassage(all, 0, own);
  return corrected.text.trimEnd() === passage.text.trimEnd() ? null : corrected;
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

function isIn({ start, end }: SpokenWord, text: SpokenWord): boolean {
  const at = start + Math.min(WORD_START_MS, (end - start) / 2);
  return at >= text.start && at < text.end;
}

/** Returns the words of a text. They have the times of as many words that they replace, or share the span of the text. */
function toWords(text: SpokenWord, words: readonly SpokenWord[], { start, end }: Span): SpokenWord[] {
  const tokens = text.text.split(/\s+/u).filter(Boolean);
  const replaced = words.filter((word) => isIn(word, text));
  const step = (text.end - text.start) / tokens.length;
  const isWhole = text.start >= start - ROUNDING_MS && text.end <= end + ROUNDING_MS;
  const times = isWhole && replaced.length === tokens.length ? replaced : null;
  return tokens.map((token, n) => {
    const at = text.start + n * step;
    return { text: token, start: times?.[n]?.start ?? at, end: times?.[n]?.end ?? at + step };
  });
}
