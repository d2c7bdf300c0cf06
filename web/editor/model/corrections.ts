/** Corrected words, which subtitles and exports show instead of the recognized ones. Pure. */
import type { Correction } from "./history";
import { getWordBounds, middleOf, type WordRange, type Words } from "./words";

/** Replaces the text of words. An empty text, or the recognized text, removes the correction. */
export function correctWords(
  corrections: readonly Correction[],
  words: Words,
  { from, to }: WordRange,
  text: string,
): Correction[] {
  if (to <= from) return [...corrections];
  const { start, end } = getWordBounds(words, { from, to });
  const others = corrections.filter((one) => one.end <= start || one.start >= end);
  const clean = text.trim().replace(/\s+/g, " ");
  if (clean === "" || clean === words.text.slice(from, to).join(" ")) return others;
  return [...others, { start, end, text: clean }].sort((a, b) => a.start - b.start);
}

/** Rebases corrections onto a cut that was saved with some of them, so that the rest apply to the texts of that cut. */
export function rebaseCorrections(corrections: readonly Correction[], words: Words, stored: Words): Correction[] {
  const texts = applyCorrections(words, corrections);
  const rebased: Correction[] = [];
  const join = (all: readonly string[], { from, to }: WordRange) => all.slice(from, to).filter(Boolean).join(" ");
  for (let from = 0, to = 1; from < texts.length; from = to++) {
    // The first of several words has their whole text.
    while (to < texts.length && (texts[to] === "" || stored.text[to] === "")) to++;
    const text = join(texts, { from, to });
    if (text !== join(stored.text, { from, to })) rebased.push({ ...getWordBounds(words, { from, to }), text });
  }
  return rebased;
}

/**
 * Returns the text of each word after corrections: the first word of a correction has its text, the others are empty.
 */
export function applyCorrections(words: Words, corrections: readonly Correction[]): readonly string[] {
  if (corrections.length === 0) return words.text;
  const texts = [...words.text];
  let index = 0;
  for (const { start, end, text } of corrections) {
    while (index < texts.length && middleOf(words, index) < start) index++;
    let isFirst = true;
    for (; index < texts.length && middleOf(words, index) < end; index++) {
      texts[index] = isFirst ? text : "";
      isFirst = false;
    }
  }
  return texts;
}
