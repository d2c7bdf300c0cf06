/** Search texts of users, as queries of the two full-text indexes. */
import { isUnspaced } from "./scripts";

/** In scripts with spaces, words are found whole; in others, as parts of the text. */
export type SearchQuery = { index: "words" | "trigrams"; terms: SearchTerm[] };

/** The first character and the one after the last. */
export type TextRange = [from: number, to: number];

/** `isPrefix`: words that begin with it are found too. */
export type SearchTerm = { text: string; isPrefix: boolean };

const MAX_TERMS = 16;
/** Shorter beginnings of words match too many words to be useful. */
const MIN_PREFIX_CHARACTERS = 3;
const TRIGRAM_CHARACTERS = 3;
/** As many as the longest passage has words. */
const MAX_COMPARED_MATCHES = 2_000;

/**
 * Parses the text that a user typed: words, all of which a passage must contain, and phrases in quotation marks. The
 * last word may be incomplete, unless a space or a quotation mark follows. Returns null if there is nothing to search
 * for.
 */
export function parseSearch(typed: string): SearchQuery | null {
  const text = typed.normalize("NFC").replace(/\p{C}/gu, " ");
  const terms: SearchTerm[] = [];
  // A quotation mark that is not closed ends with the text.
  for (const [whole, phrase, word] of text.matchAll(/["“”„]([^"“”„]*)(?:["“”„]|$)|([^\s"“”„]+)/gu)) {
    const term = (phrase ?? word ?? "").trim();
    if (!/[\p{L}\p{N}]/u.test(term)) continue;
    const isLast = phrase === undefined && text.endsWith(whole);
    terms.push({ text: term, isPrefix: isLast && term.length >= MIN_PREFIX_CHARACTERS });
  }
  if (terms.length === 0) return null;
  return { index: isUnspaced(text) ? "trigrams" : "words", terms: terms.slice(0, MAX_TERMS) };
}

/** Formats a term for FTS5. Inside quotation marks, only quotation marks have a meaning, and terms contain none. */
export const formatWordTerm = ({ text, isPrefix }: SearchTerm): string =>
  `"${text.replaceAll('"', " ")}"${isPrefix ? " *" : ""}`;

/** Returns whether a term is too short for an index of trigrams, which then needs all trigrams that begin with it. */
export const isBelowTrigram = ({ text }: SearchTerm): boolean => [...text].length < TRIGRAM_CHARACTERS;

/** Returns whether a text has all terms of a query, as the index compares them or more loosely. */
export const hasTerms = (text: string, query: SearchQuery): boolean => createTermFinder(query)(text).every(Boolean);

/** Returns a function that returns for each term of a query whether a text has it. */
function createTermFinder({ index, terms }: SearchQuery): (text: string) => boolean[] {
  const normalize = index === "trigrams" ? fold : (text: string) => ` ${toWords(text)} `;
  const wanted = terms.map(({ text, isPrefix }) => (isPrefix ? normalize(text).trimEnd() : normalize(text)));
  return (text) => {
    const normalized = normalize(text);
    return wanted.map((term) => normalized.includes(term));
  };
}

/**
 * Returns the index of the match with which the shortest part of a text begins that has all terms; 0 if no part has.
 * Common words often match long before the others. Each term, also a phrase, is within one match.
 */
export function findClosest(text: string, matches: readonly TextRange[], query: SearchQuery): number {
  const findTerms = createTermFinder(query);
  const last = query.terms.map(() => -1);
  let [closest, length] = [0, Number.POSITIVE_INFINITY];
  for (const [n, [from, to]] of matches.slice(0, MAX_COMPARED_MATCHES).entries()) {
    for (const [term, isFound] of findTerms(text.slice(from, to)).entries()) if (isFound) last[term] = n;
    const first = matches[Math.min(...last)];
    if (first && to - first[0] < length) [closest, length] = [Math.min(...last), to - first[0]];
  }
  return closest;
}

const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toUpperCase();

/** Private use is part of words in the index; symbols divide them, also those that fold to letters. */
export const toWords = (text: string): string =>
  fold(text.replace(/\p{S}/gu, " "))
    .split(/[^\p{L}\p{N}\p{Co}]+/u)
    .filter(Boolean)
    .join(" ");
