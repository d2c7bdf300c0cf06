/** One way to write a text, so that a script and a transcript of it can be compared: lower case, no marks, numbers in words. */
import { numberWords } from "./numbers";

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

/**
 * The words of a text in comparable form. Numbers and the usual abbreviations are spelled out when the text is English
 * (or its language is not known); scripts written without spaces give one word for each character.
 */
export function normalWords(text: string, language: string | null = null): string[] {
  let plain = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[’‘ʼ`´]/g, "'");
  if (isEnglish(language)) plain = spellOut(plain);
  return plain
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/gu, " $1 ")
    .replace(/[^\p{L}\p{N}']+/gu, " ")
    .split(" ")
    .map((word) => word.replace(/^'+|'+$/g, "").replace(/'/g, ""))
    .filter((word) => word !== "");
}

function spellOut(text: string): string {
  let plain = expandAbbreviations(text);
  for (const [pattern, words] of SYMBOLS) plain = plain.replace(pattern, words);
  return numberWords(plain);
}

/** The usual abbreviations in words. Each run of letters and dots is looked at once, however long it is. */
function expandAbbreviations(text: string): string {
  return text.replace(/[\p{L}.]+/gu, (run) => {
    const end = run.lastIndexOf(".") + 1;
    const words = ABBREVIATIONS[run.slice(0, end).toLowerCase()];
    return words === undefined ? run : words + run.slice(end);
  });
}

/**
 * A text for a recogniser to hold against the sound: what the reader says, with its punctuation, without what is only seen
 * (quotation marks, markup, emoji). `spelled` writes numbers and symbols as words.
 */
export function spokenText(text: string, spelled: boolean): string {
  let plain = text.normalize("NFKC").replace(/[’‘ʼ`´]/g, "'");
  if (spelled) {
    plain = expandAbbreviations(plain);
    for (const [pattern, words] of SYMBOLS) plain = plain.replace(new RegExp(pattern.source, "gi"), words);
    plain = numberWords(plain);
  }
  return plain
    .replace(/\s*[–—]+\s*/g, ", ")
    .replace(/[…]|\.{2,}/g, ",")
    .replace(/[^\p{L}\p{N}\p{M}\s'.,!?;:$€£%&+/@°-]/gu, " ")
    .replace(/\s+/g, " ")
    .replace(/ ([.,!?;:])/g, "$1")
    .trim();
}

/** Longer words are near to none but themselves. */
const MAX_COMPARED_CHARACTERS = 100;

/**
 * How unlike two normal words are: 0 the same, 1 nothing alike. Recognisers misspell, so words that share most letters count as near.
 */
export function wordDistance(a: string, b: string): number {
  if (a === b) return 0;
  const longest = Math.max(a.length, b.length);
  // No word of a language is so long, and the time to compare grows with the square.
  if (longest > MAX_COMPARED_CHARACTERS) return 1;
  // The distance is at least the difference of the lengths.
  if (Math.abs(a.length - b.length) / longest > 0.5) return 1;
  const distance = editDistance(a, b) / longest;
  if (distance <= 0.34) return 0.3;
  if (distance <= 0.5 && longest >= 4) return 0.6;
  return 1;
}

/** Levenshtein distance in characters. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(swap, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}

/** `wordDistance` that remembers its answers: comparing two long texts asks for the same pairs again and again. */
export function createDistanceCache(): (a: string, b: string) => number {
  const known = new Map<string, Map<string, number>>();
  return (a, b) => {
    if (a === b) return 0;
    const row = known.get(a) ?? new Map<string, number>();
    if (row.size === 0) known.set(a, row);
    const distance = row.get(b) ?? wordDistance(a, b);
    row.set(b, distance);
    return distance;
  };
}
