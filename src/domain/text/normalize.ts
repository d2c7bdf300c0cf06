/** Normalizes text, so that a script and a transcript can be compared: lower case, no punctuation, numbers in words. */
import { spellNumbers } from "./numbers";

const ABBREVIATIONS: Record<string, string> = {
  "mr.": "mister",
  "mrs.": "missus",
  "ms.": "miss",
  "dr.": "doctor",
  "prof.": "professor",
  "st.": "saint",
  "vs.": "versus",
  "etc.": "et cetera",
  "e.g.": "for example",
  "i.e.": "that is",
  "approx.": "approximately",
  "no.": "number",
  "min.": "minutes",
  "max.": "maximum",
};

const SYMBOLS: [RegExp, string][] = [
  [/&/g, " and "],
  [/(\d)\s*%/g, "$1 percent "],
  [/(\d)\s*°\s*c\b/g, "$1 degrees celsius "],
  [/(\d)\s*°\s*f\b/g, "$1 degrees fahrenheit "],
  [/(\d)\s*°/g, "$1 degrees "],
  [/[$]\s*(\d[\d,.]*\d|\d)/g, "$1 dollars "],
  [/€\s*(\d[\d,.]*\d|\d)/g, "$1 euros "],
  [/£\s*(\d[\d,.]*\d|\d)/g, "$1 pounds "],
  [/(\d)\s*€/g, "$1 euros "],
  [/(\d)\s*(?:km\/h|kph)\b/g, "$1 kilometers per hour "],
  [/(\d)\s*km\b/g, "$1 kilometers "],
  [/(\d)\s*kg\b/g, "$1 kilograms "],
  [/(\d)\s*cm\b/g, "$1 centimeters "],
  [/(\d)\s*mm\b/g, "$1 millimeters "],
  [/(\d)\s*ghz\b/g, "$1 gigahertz "],
  [/(\d)\s*gb\b/g, "$1 gigabytes "],
  [/(\d)\s*mb\b/g, "$1 megabytes "],
  [/(\d)\s*ms\b/g, "$1 milliseconds "],
  [/(\d)\s*hz\b/g, "$1 hertz "],
  [/(\d)\s*[x×]\s*(?=\d)/g, "$1 by "],
  [/(\w)\.(com|org|net|io|dev|app|ai)\b/g, "$1 dot $2"],
  [/(\w)@(\w)/g, "$1 at $2"],
  [/\+/g, " plus "],
  [/(\d)\s*=\s*/g, "$1 equals "],
];

const isEnglish = (language: string | null) => language === null || language.toLowerCase().startsWith("en");

/** A word that is only put into lower case: no abbreviation, number, accent or apostrophe. */
const SIMPLE_WORD = /^\s*([a-z]+)[\s,;:!?]*$/i;

/**
 * Returns the normalized words of a text. Numbers and common abbreviations are spelled out if the text is English or
 * its language is unknown. In writing systems without spaces, each character is a word.
 */
export function normalizeWords(text: string, language: string | null = null): string[] {
  const simple = SIMPLE_WORD.exec(text);
  if (simple) return [simple[1]!.toLowerCase()];
  let plain = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[’‘ʼ`´]/g, "'");
  if (isEnglish(language)) plain = spellOutText(plain);
  return plain
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/gu, " $1 ")
    .replace(/[^\p{L}\p{N}']+/gu, " ")
    .split(" ")
    .map((word) => word.replace(/^'+|(?<!')'+$/g, "").replace(/'/g, ""))
    .filter((word) => word !== "");
}

const CASELESS_SYMBOLS = SYMBOLS.map(([pattern, words]): [RegExp, string] => [new RegExp(pattern.source, "gi"), words]);

function spellOutText(text: string, symbols = SYMBOLS): string {
  let plain = expandAbbreviations(text);
  for (const [pattern, words] of symbols) plain = plain.replace(pattern, words);
  return spellNumbers(plain);
}

/** Expands common abbreviations. Linear: each run of letters and dots is matched once. */
function expandAbbreviations(text: string): string {
  return text.replace(/[\p{L}.]+/gu, (run) => {
    const end = run.lastIndexOf(".") + 1;
    const words = ABBREVIATIONS[run.slice(0, end).toLowerCase()];
    return words === undefined ? run : words + run.slice(end);
  });
}

/**
 * Returns a text for forced alignment: the spoken words with punctuation, but without quotation marks, markup and
 * emoji. `spelled` writes numbers and symbols as words.
 */
export function toSpokenText(text: string, spelled: boolean): string {
  let plain = text.normalize("NFKC").replace(/[’‘ʼ`´]/g, "'");
  if (spelled) plain = spellOutText(plain, CASELESS_SYMBOLS);
  return plain
    .replace(/(?:(?<!\s)\s+)?[–—]+\s*/g, ", ")
    .replace(/[…]|\.{2,}/g, ",")
    .replace(/[^\p{L}\p{N}\p{M}\s'.,!?;:$€£%&+/@°-]/gu, " ")
    .replace(/\s+/g, " ")
    .replace(/ ([.,!?;:])/g, "$1")
    .trim();
}

/** Longer words have distance 1 to every other word. */
const MAX_COMPARED_CHARACTERS = 100;
/** The largest edit distance, relative to the length, at which words still resemble each other. */
const MAX_EDITED_SHARE = 0.5;

/**
 * Returns the distance of two normalized words: 0 for the same word, 1 for different ones. Words that share most
 * letters have 0.3 or 0.6, because recognizers misspell words. `inA` and `inB` are their letters, if they are known.
 */
export function measureWordDistance(a: string, b: string, inA?: number, inB?: number): number {
  if (a === b) return 0;
  const longest = Math.max(a.length, b.length);
  // No natural word is this long, and the cost of comparing grows quadratically.
  if (longest > MAX_COMPARED_CHARACTERS) return 1;
  if (!canShareLetters(a, b, inA ?? toLetterSet(a), inB ?? toLetterSet(b))) return 1;
  const distance = measureEditDistance(a, b) / longest;
  if (distance <= 0.34) return 0.3;
  if (distance <= MAX_EDITED_SHARE && longest >= 4) return 0.6;
  return 1;
}

/** Returns the letters of a word as a set of 32 bits. Letters that share a bit only make differences smaller. */
export function toLetterSet(word: string): number {
  let set = 0;
  for (let i = 0; i < word.length; i++) set |= 1 << (word.charCodeAt(i) & 31);
  return set;
}

/**
 * Returns false if two words, whose letters are known, share so few that their distance is 1. The edit distance is at
 * least the difference in length, and at least the number of letters that the other word lacks.
 */
export function canShareLetters(a: string, b: string, inA: number, inB: number): boolean {
  const most = MAX_EDITED_SHARE * Math.max(a.length, b.length);
  return Math.abs(a.length - b.length) <= most && countBits(inA & ~inB) <= most && countBits(inB & ~inA) <= most;
}

function countBits(set: number): number {
  const pairs = set - ((set >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** One row is used again and again: most words are short, and many pairs are compared. */
const SHORT_ROW = new Uint32Array(MAX_COMPARED_CHARACTERS + 1);

/** The places of each UTF-16 unit in a pattern, as bits. Empty between calls. */
const PLACES = new Int32Array(0x10000);
const MAX_PATTERN_LENGTH = 32;

/** Returns the Levenshtein distance in UTF-16 units. */
export function measureEditDistance(a: string, b: string): number {
  if (a.length > b.length) return measureEditDistance(b, a);
  if (a.length === 0) return b.length;
  return a.length <= MAX_PATTERN_LENGTH ? matchPattern(a, b) : fillTable(a, b);
}

/**
 * Returns the Levenshtein distance of a short pattern to a text. Computes a column of the table at once: its bits say
 * where values rise and fall from row to row (Myers 1999, in the form of Hyyrö 2003).
 */
function matchPattern(pattern: string, text: string): number {
  for (let i = 0; i < pattern.length; i++) PLACES[pattern.charCodeAt(i)]! |= 1 << i;
  const last = 1 << (pattern.length - 1);
  let distance = pattern.length;
  let rises = -1;
  let falls = 0;
  for (let j = 0; j < text.length; j++) {
    const equal = PLACES[text.charCodeAt(j)]!;
    const diagonal = (((equal & rises) + rises) ^ rises) | equal | falls;
    const rowRises = falls | ~(diagonal | rises);
    const rowFalls = rises & diagonal;
    if (rowRises & last) distance++;
    else if (rowFalls & last) distance--;
    const shifted = (rowRises << 1) | 1;
    rises = (rowFalls << 1) | ~(diagonal | shifted);
    falls = shifted & diagonal;
  }
  for (let i = 0; i < pattern.length; i++) PLACES[pattern.charCodeAt(i)] = 0;
  return distance;
}

function fillTable(a: string, b: string): number {
  const row = b.length < SHORT_ROW.length ? SHORT_ROW : new Uint32Array(b.length + 1);
  for (let j = 0; j <= b.length; j++) row[j] = j;
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0]!;
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j]!;
      const swap = diagonal + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      row[j] = Math.min(swap, above + 1, row[j - 1]! + 1);
      diagonal = above;
    }
  }
  return row[b.length]!;
}
