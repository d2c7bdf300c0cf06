/** The words of the transcript, and edits of a plan by words. Pure. Times are in microseconds. */
import { findFirst } from "../../../src/domain/time";
import {
  type EditorPlan,
  findSpanIndex,
  isRemoved,
  MIN_KEPT,
  type PlanSpan,
  type Range,
  removeRange,
  restoreRange,
} from "./plan";

/**
 * Columns of the same length, sorted by start. A word without text belongs to the word before it, whose text stands for
 * both. `confidence` is in percent; absent if it is not known.
 */
export type Words = {
  text: readonly string[];
  start: readonly number[];
  end: readonly number[];
  confidence?: readonly number[];
};

/** Indices of the first word, and of the word after the last. */
export type WordRange = { from: number; to: number };

type WordColumns = { text: string[]; start: number[]; end: number[]; confidence?: number[] };

/** Converts the columns of the API, whose times are in milliseconds. */
export const readWords = ({ text, start, end, confidence }: WordColumns): Words => ({
  text,
  start: start.map((time) => time * 1000),
  end: end.map((time) => time * 1000),
  ...(confidence && { confidence }),
});

/** A word below this confidence, in percent, may have been misheard. */
const MISHEARD = 50;
export const isMisheard = ({ confidence }: Words, index: number): boolean => (confidence?.[index] ?? 100) < MISHEARD;

/** Returns the word whose text stands for a word: itself, or an earlier one. */
export function toUnit(texts: readonly string[], index: number): number {
  let unit = index;
  while (unit > 0 && texts[unit] === "") unit--;
  if (texts[unit] !== "") return unit;
  while (unit < texts.length - 1 && texts[unit] === "") unit++;
  return unit;
}

/** Returns the index after a word and the words for which its text stands. */
export function toUnitEnd(texts: readonly string[], index: number): number {
  let end = index + 1;
  while (end < texts.length && texts[end] === "") end++;
  return end;
}

/** Padding that stays between kept and removed words. A pause shorter than both paddings is split in the middle. */
const QUIET_BEFORE_WORD = 120_000;
const QUIET_AFTER_WORD = 180_000;

/** Returns the middle of a word, which decides whether the word is kept, because padding never reaches it. */
export const middleOf = (words: Words, index: number): number =>
  Math.floor((words.start[index]! + words.end[index]!) / 2);

/**
 * Returns the time range of words. Where recognized words overlap, the range excludes the middle of the neighboring
 * word.
 */
export function getWordBounds(words: Words, { from, to }: WordRange): Range {
  const overlaps = (index: number) =>
    index > 0 && index < words.text.length && words.start[index]! < words.end[index - 1]!;
  const divide = (index: number) => Math.ceil((middleOf(words, index - 1) + middleOf(words, index)) / 2);
  return {
    start: overlaps(from) ? divide(from) : words.start[from]!,
    end: overlaps(to) ? divide(to) : words.end[to - 1]!,
  };
}

/** Returns the span that contains a word. */
export const findWordSpan = (plan: EditorPlan, words: Words, index: number): PlanSpan =>
  plan.spans[findSpanIndex(plan, middleOf(words, index))]!;

export const isWordKept = (plan: EditorPlan, words: Words, index: number): boolean =>
  findWordSpan(plan, words, index).isKept;

/** Returns where to split the pause between a word and the next one, so that the kept side sounds natural. */
function dividePause(words: Words, before: number, keepsFirst: boolean): number {
  const [end, next] = [words.end[before]!, words.start[before + 1]!];
  const half = Math.floor((end + next) / 2);
  // Words that overlap are divided between their middles.
  if (next <= end) return Math.min(Math.max(half, middleOf(words, before) + 1), middleOf(words, before + 1));
  return keepsFirst ? Math.min(half, end + QUIET_AFTER_WORD) : Math.max(half, next - QUIET_BEFORE_WORD);
}

/**
 * Returns the range to cut for words: from after the padding of the last kept word to before the padding of the next
 * one, so that the pauses around the words are removed too. Next to removed words, which may overlap them, the range
 * extends to those.
 */
function toRemovedRange(plan: EditorPlan, words: Words, { from, to }: WordRange): Range {
  const toStart = (): number =>
    isWordKept(plan, words, from - 1)
      ? dividePause(words, from - 1, true)
      : Math.min(words.start[from]!, words.end[from - 1]!);
  const toEnd = (): number =>
    isWordKept(plan, words, to) ? dividePause(words, to - 1, false) : Math.max(words.end[to - 1]!, words.start[to]!);
  return { start: from === 0 ? 0 : toStart(), end: to === words.text.length ? plan.duration : toEnd() };
}

/** Removes words with their pauses. */
export const removeWords = (plan: EditorPlan, words: Words, range: WordRange): EditorPlan =>
  range.to <= range.from ? plan : removeRange(plan, toRemovedRange(plan, words, range));

/** Restores words with their padding and the pauses between them. */
export function restoreWords(plan: EditorPlan, words: Words, { from, to }: WordRange): EditorPlan {
  if (to <= from) return plan;
  const before = from === 0 ? 0 : dividePause(words, from - 1, isWordKept(plan, words, from - 1));
  const after = to === words.text.length ? plan.duration : dividePause(words, to - 1, !isWordKept(plan, words, to));
  const start = Math.max(before, words.start[from]! - QUIET_BEFORE_WORD);
  const end = Math.min(after, words.end[to - 1]! + QUIET_AFTER_WORD);
  const restored = restoreRange(plan, { start, end });
  if (end - start >= MIN_KEPT || isWordKept(restored, words, from)) return restored;
  // A word that is too short for a kept span is extended into its surroundings.
  const first = Math.max(0, Math.min(plan.duration - MIN_KEPT, Math.floor((start + end - MIN_KEPT) / 2)));
  return restoreRange(plan, { start: first, end: first + MIN_KEPT });
}

/**
 * Removes the words, or restores them if all of them are removed. Returns how many changed, and in which direction.
 * Only words with a text in `texts` are counted.
 */
export function toggleWords(
  plan: EditorPlan,
  words: Words,
  range: WordRange,
  texts: readonly string[] = words.text,
): { plan: EditorPlan; changed: number; isRestored: boolean } {
  const isRestored = areRemoved(plan, words, range);
  let changed = 0;
  for (let index = range.from; index < range.to; index++)
    if (texts[index] !== "" && (isRestored || isWordKept(plan, words, index))) changed++;
  return { plan: (isRestored ? restoreWords : removeWords)(plan, words, range), changed, isRestored };
}

/** Returns whether no word of the range is kept. */
export function areRemoved(plan: EditorPlan, words: Words, { from, to }: WordRange): boolean {
  for (let index = from; index < to; index++) if (isWordKept(plan, words, index)) return false;
  return to > from;
}

/** Returns the index of the word at a time, or of the last word before it; -1 before the first. */
export const findWordAt = ({ start }: Words, time: number): number =>
  findFirst(start.length, (index) => start[index]! > time) - 1;

/** The player rounds the start of a span to a frame, which may be before it. */
const HALF_FRAME = 25_000;

/**
 * Returns the index of the word to highlight at a time: the last word that has started or, if playback enters a span
 * before its first word, that word. -1 before the first.
 */
export function findPlayedWord(plan: EditorPlan, words: Words, time: number): number {
  const word = findWordAt(words, time);
  const index = findSpanIndex(plan, time);
  const following = plan.spans[index + 1];
  const isEntering = following?.isKept === true && following.start - time <= HALF_FRAME;
  const { start, end } = isEntering ? following : plan.spans[index]!;
  if (word >= 0 && middleOf(words, word) >= start) return word;
  const next = word + 1;
  return next < words.text.length && middleOf(words, next) < end ? next : word;
}

/** Returns the words whose middle is in a range. */
export function findWordsIn(words: Words, { start, end }: Range): WordRange {
  const from = firstFrom(words, start);
  return { from, to: Math.max(from, firstFrom(words, end)) };
}

const firstFrom = (words: Words, time: number): number =>
  findFirst(words.text.length, (index) => middleOf(words, index) >= time);

const normalizeQuotes = (text: string): string => text.replaceAll("’", "'");
/** Keeps the length: `İ` is the only letter whose lower case is longer. */
const normalize = (text: string): string => normalizeQuotes(text.replaceAll("İ", "i").toLowerCase());
const PUNCTUATION = /^[^\p{L}\p{N}]+|(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/gu;
/** Returns a word without the punctuation around it; a mark that stands alone is a word. */
const trimWord = (word: string): string => word.replace(PUNCTUATION, "") || word;
const isSameWord = (word: string, wanted: string): boolean => word === wanted || trimWord(word) === trimWord(wanted);

/**
 * `matchesCase`: upper and lower case differ. `isWhole`: the text ends with a whole word; the others are whole anyway.
 */
export type FindOptions = { matchesCase: boolean; isWhole: boolean };

/** The default finds whole words: a search for “the” must not remove “father”. */
export const FIND_WHOLE: FindOptions = { matchesCase: false, isWhole: true };

/**
 * Finds a text in the transcript. A text of several words matches consecutive words, even where a script or a
 * correction has put several of them in place of one.
 */
export function findText(words: Words, text: string, { matchesCase, isWhole } = FIND_WHOLE): WordRange[] {
  const prepare = matchesCase ? normalizeQuotes : normalize;
  const wanted = prepare(text).split(/\s+/).filter(Boolean);
  const last = wanted.length - 1;
  if (last < 0) return [];
  const parts: string[] = [];
  /** The word of each part. */
  const places: number[] = [];
  for (const [index, word] of words.text.entries())
    for (const part of prepare(word).split(/\s+/)) {
      if (part === "") continue;
      parts.push(part);
      places.push(index);
    }
  const found: WordRange[] = [];
  for (let from = 0; from + last < parts.length; from++) {
    const isMatch = wanted.every((part, index) =>
      index === last && !isWhole ? parts[from + index]!.includes(part) : isSameWord(parts[from + index]!, part),
    );
    const range = { from: places[from]!, to: places[from + last]! + 1 };
    // Two matches in the words of one correction count as one.
    if (isMatch && found.at(-1)?.from !== range.from) found.push(range);
  }
  return found;
}

/** Finds the places where the same words are said as in a range, ignoring case and punctuation. Includes the range. */
export function findSame(words: Words, { from, to }: WordRange): WordRange[] {
  const wanted = words.text.slice(from, to).map(normalize);
  return findText(words, wanted.join(" ")).filter((range) => {
    const found = words.text.slice(range.from, range.to).map(normalize);
    return found.length === wanted.length && found.every((word, index) => isSameWord(word, wanted[index]!));
  });
}

const isPunctuation = (text: string): boolean => !/[\p{L}\p{N}]/u.test(text);

/**
 * Replaces a searched text in the text of a match, where `findText` finds it; all of the text if punctuation divides
 * the match.
 */
export function replaceText(
  text: string,
  searched: string,
  replacement: string,
  { matchesCase, isWhole } = FIND_WHOLE,
): string {
  const prepare = matchesCase ? normalizeQuotes : normalize;
  const [said, wanted] = [prepare(text), prepare(searched.trim())];
  const beginsWord = isWhole || /\s/.test(wanted);
  let replaced = "";
  let done = 0;
  for (let at = said.indexOf(wanted); at !== -1 && wanted !== ""; at = said.indexOf(wanted, Math.max(done, at + 1))) {
    const end = at + wanted.length;
    if (beginsWord && !isPunctuation(said.slice(0, at).split(/\s/).at(-1)!)) continue;
    if (isWhole && !isPunctuation(said.slice(end).split(/\s/)[0]!)) continue;
    replaced += `${text.slice(done, at)}${replacement}`;
    done = end;
  }
  return done === 0 ? replacement : replaced + text.slice(done);
}

/** Returns the index of the next or previous match from a word. Wraps around at the ends. -1 without matches. */
export function findMatchFrom(found: readonly WordRange[], word: number, direction: 1 | -1): number {
  const next = found.findIndex(({ from }) => from >= word);
  if (direction === 1) return next === -1 ? Math.min(0, found.length - 1) : next;
  return next <= 0 ? found.length - 1 : next - 1;
}

/** Returns whether everything between two words is removed, including their pause. */
export const isPauseRemoved = (plan: EditorPlan, words: Words, before: number): boolean =>
  isRemoved(plan, { start: words.end[before]!, end: words.start[before + 1]! });
