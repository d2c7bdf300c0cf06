/**
 * Texts that subtitles and exports show instead of the recognized words, from the spans of a cut and from corrections.
 * Pure.
 */
import type { Correction } from "./history";
import { fromSeconds } from "./plan";
import { findWordsIn, getWordBounds, middleOf, type WordRange, type Words } from "./words";

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

type TextedSpan = { start: number; end: number; text: string };

/** If a comparison would be larger than this, a span keeps its recognized words. */
const MAX_CELLS = 4_000_000;

/**
 * Applies the texts of the spans, whose times are in seconds, to the words. Words keep their times. Where a text
 * differs, the first replaced word gets the whole replacement, and the others are empty.
 */
export function applyPlanTexts(words: Words, spans: readonly TextedSpan[]): Words {
  let texts: string[] | null = null;
  for (const { start, end, text } of spans) {
    if (text === "") continue;
    const { from, to } = findWordsIn(words, { start: fromSeconds(start), end: fromSeconds(end) });
    const recognized = words.text.slice(from, to);
    const spoken = recognized.join(" ");
    // Most spans have the recognized text.
    if (from === to || spoken === text) continue;
    const tokens = text.split(/\s+/).filter(Boolean);
    if (tokens.length === 0 || spoken === tokens.join(" ")) continue;
    const replaced = replaceTexts(recognized, tokens);
    if (replaced === null) continue;
    texts ??= [...words.text];
    for (const [index, one] of replaced.entries()) texts[from + index] = one;
  }
  return texts === null ? words : { ...words, text: texts };
}

const normalize = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Returns a text for each recognized word; null if the comparison would be too large. */
function replaceTexts(recognized: readonly string[], tokens: readonly string[]): string[] | null {
  const matches = findMatches(recognized.map(normalize), tokens.map(normalize));
  if (matches === null) return null;
  const texts = recognized.map(() => "");
  let [word, token] = [0, 0];
  const fillGap = (endWord: number, endToken: number) => {
    const others = tokens.slice(token, endToken).join(" ");
    if (others === "") return;
    if (word < endWord) texts[word] = others;
    // Words that were not recognized are appended to the previous word, or prepended to the next one.
    else if (word > 0) texts[word - 1] = `${texts[word - 1]} ${others}`.trim();
    else texts[0] = others;
  };
  for (const match of matches) {
    fillGap(match.word, match.token);
    texts[match.word] = `${texts[match.word]} ${tokens[match.token]}`.trim();
    word = match.word + 1;
    token = match.token + 1;
  }
  fillGap(recognized.length, tokens.length);
  return texts;
}

type Match = { word: number; token: number };

/** Returns the longest common subsequence, in order; null if it would take too long. */
function findMatches(a: readonly string[], b: readonly string[]): Match[] | null {
  let first = 0;
  while (first < a.length && first < b.length && a[first] === b[first]) first++;
  let last = 0;
  while (last < a.length - first && last < b.length - first && a.at(-1 - last) === b.at(-1 - last)) last++;
  const [rows, columns] = [a.length - first - last, b.length - first - last];
  if (rows * columns > MAX_CELLS) return null;
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      lengths[row * width + column] =
        a[first + row] === b[first + column]
          ? lengths[(row + 1) * width + column + 1]! + 1
          : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!);
  const matches: Match[] = Array.from({ length: first }, (_, index) => ({ word: index, token: index }));
  for (let [row, column] = [0, 0]; row < rows && column < columns; ) {
    if (a[first + row] === b[first + column]) matches.push({ word: first + row++, token: first + column++ });
    else if (lengths[(row + 1) * width + column]! >= lengths[row * width + column + 1]!) row++;
    else column++;
  }
  for (let index = last; index > 0; index--) matches.push({ word: a.length - index, token: b.length - index });
  return matches;
}
