/**
 * Divides a transcript into passages, the results of a search. A passage is about a sentence, and repeats the first
 * words of the next one, so that a phrase is found across the boundary.
 */
import { isUnspaced, joinsWithoutSpace } from "./scripts";

/** A word with its times in milliseconds. */
export type SpokenWord = { text: string; start: number; end: number };

/**
 * `text` contains the words; those from `ownLength` on belong to the next passage. It may end with spaces. `words` has
 * the place of each word in `text` and in time, as `locateWords` reads it. Times are in milliseconds.
 */
export type Passage = {
  start: number;
  end: number;
  text: string;
  ownLength: number;
  words: Uint8Array;
  isUnspaced: boolean;
};

const PAUSE_MS = 700;
const MIN_WORDS_BEFORE_PAUSE = 8;
const MIN_WORDS_OF_SENTENCES = 14;
export const MAX_PASSAGE_WORDS = 40;
const MAX_CHARACTERS = 400;
/** Words of the next passage that a passage repeats. A longer phrase is found only within a passage. */
const REPEATED_WORDS = 6;
const MAX_WORD_CHARACTERS = 200;
/** Appended so that the last one or two characters start a trigram and can be found. */
const TRIGRAM_PADDING = "  ";

const SENTENCE_END = /[.!?…。！？]["'”’»)]*$/u;

/** Splits a transcript into passages, in the order of time. */
export function splitPassages(words: readonly SpokenWord[]): Passage[] {
  const spoken = words.flatMap(cleanWord);
  const passages: Passage[] = [];
  let first = 0;
  let characters = 0;
  for (const [n, { text }] of spoken.entries()) {
    characters += text.length + 1;
    if (!isPassageEnd(spoken, first, n, characters)) continue;
    passages.push(createPassage(spoken, first, n + 1));
    first = n + 1;
    characters = 0;
  }
  return passages;
}

/** Returns the word without control characters, or an empty list if nothing is left. */
export function cleanWord({ text, start, end }: SpokenWord): SpokenWord[] {
  const clean = text.normalize("NFC").replace(/\s+/gu, " ").replace(/\p{C}/gu, "").trim();
  const whole = clean.slice(0, MAX_WORD_CHARACTERS).toWellFormed();
  return whole === "" ? [] : [{ text: whole, start, end }];
}

function isPassageEnd(words: readonly SpokenWord[], first: number, n: number, characters: number): boolean {
  const next = words[n + 1];
  if (next === undefined) return true;
  const count = n + 1 - first;
  const pause = next.start - words[n]!.end;
  return (
    count >= MAX_PASSAGE_WORDS ||
    characters >= MAX_CHARACTERS ||
    (count >= MIN_WORDS_OF_SENTENCES && SENTENCE_END.test(words[n]!.text)) ||
    (count >= MIN_WORDS_BEFORE_PAUSE && pause >= PAUSE_MS)
  );
}

/** Creates the passage of the words from `first` up to `end`. */
export function createPassage(spoken: readonly SpokenWord[], first: number, end: number): Passage {
  const bytes: number[] = [];
  const { start } = spoken[first]!;
  let text = "";
  let ownLength = 0;
  let [lastCharacter, lastTime] = [0, start];
  const shown = spoken.slice(first, end + REPEATED_WORDS);
  for (const [n, word] of shown.entries()) {
    if (text !== "" && !joinsWithoutSpace(text.slice(-8), word.text)) text += " ";
    const time = Math.max(lastTime, word.start);
    writeNumber(bytes, text.length - lastCharacter);
    writeNumber(bytes, Math.round((time - lastTime) / TIME_STEP_MS));
    lastCharacter = text.length;
    // Computed as it is read, so that rounding errors do not add up.
    lastTime += Math.round((time - lastTime) / TIME_STEP_MS) * TIME_STEP_MS;
    text += word.text;
    if (n < end - first) ownLength = text.length;
  }
  const last = Math.max(lastTime, ...shown.map((word) => word.end));
  const words = Uint8Array.from(bytes);
  if (!isUnspaced(text)) return { start, end: last, text, ownLength, words, isUnspaced: false };
  return { start, end: last, text: text + TRIGRAM_PADDING, ownLength, words, isUnspaced: true };
}

const TIME_STEP_MS = 10;

/** Writes a number in groups of seven bits, the lowest first. */
function writeNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

function readNumbers(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  let [value, factor] = [0, 1];
  for (const byte of bytes) {
    value += (byte % 128) * factor;
    factor *= 128;
    if (byte >= 128) continue;
    numbers.push(value);
    [value, factor] = [0, 1];
  }
  return numbers;
}

/** Lists the words of a passage. The end of a word is the start of the next one. */
export function listWords({
  start,
  end,
  text,
  words,
}: Pick<Passage, "start" | "end" | "text" | "words">): SpokenWord[] {
  const numbers = readNumbers(words);
  const found: (SpokenWord & { from: number })[] = [];
  let [from, time] = [0, start];
  for (let n = 0; n + 1 < numbers.length; n += 2) {
    from += numbers[n]!;
    time += numbers[n + 1]! * TIME_STEP_MS;
    found.push({ from, text: "", start: time, end });
  }
  return found.map((word, n) => {
    const next = found[n + 1];
    return { text: text.slice(word.from, next?.from).trimEnd(), start: word.start, end: next?.start ?? end };
  });
}

/**
 * Returns the time of the characters from `from` to `to` of a passage, from the start of the first word to that of the
 * word after the last.
 */
export function findTime(
  { start, end, words }: Pick<Passage, "start" | "end" | "words">,
  [from, to]: readonly [number, number],
): { start: number; end: number } {
  const numbers = readNumbers(words);
  const found = { start, end };
  let [character, time] = [0, start];
  for (let n = 0; n + 1 < numbers.length; n += 2) {
    character += numbers[n]!;
    time += numbers[n + 1]! * TIME_STEP_MS;
    if (character <= from) found.start = time;
    if (character >= to) return { ...found, end: time };
  }
  return found;
}
