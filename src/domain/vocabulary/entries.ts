/** Vocabularies: names and terms as they are written. Pure. */
import type { FieldError } from "../errors";
import { MAX_FIELD_ERRORS } from "../errors";

/** A term as it is written, and other forms in which a recognizer writes it down. */
export type VocabularyEntry = { text: string; spoken_as: string[] };

export const MAX_ENTRIES = 2_000;
export const MAX_TERM_CHARACTERS = 80;
export const MAX_TERM_WORDS = 8;
export const MAX_SPOKEN_FORMS = 10;
/** Maximum number of characters of all terms and spoken forms together. */
export const MAX_VOCABULARY_CHARACTERS = 200_000;

/** Control characters, line separators, and characters that change the direction of text or cannot be seen. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\p{Cs}/u;

/**
 * Returns the key by which two forms are the same: without regard to case, accents, punctuation and spaces. Marks of
 * other scripts stay, because they are sounds there.
 */
export const toFormKey = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/(?<=[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}])\p{M}+/gu, "")
    .replace(/[^\p{L}\p{M}\p{N}]/gu, "")
    .normalize("NFC");

/** Returns the text with single spaces. */
export const cleanTerm = (text: string): string => text.normalize("NFC").trim().replace(/\s+/gu, " ");

const SPOKEN = /[\p{L}\p{M}\p{N}]/u;

/** Returns the text without the punctuation around it. */
export function trimPunctuation(text: string): string {
  const characters = [...text];
  const first = characters.findIndex((character) => SPOKEN.test(character));
  const last = characters.findLastIndex((character) => SPOKEN.test(character));
  return first < 0 ? "" : characters.slice(first, last + 1).join("");
}

/** Returns the problem of a term or a spoken form; null for a valid one. The text must be clean. */
export function findTermProblem(text: string): string | null {
  if (FORBIDDEN.test(text)) return "must not contain control characters";
  if ([...text].length > MAX_TERM_CHARACTERS) return `must have at most ${MAX_TERM_CHARACTERS} characters`;
  if (toFormKey(text) === "") return "must contain a letter or a digit";
  if (text.split(" ").length > MAX_TERM_WORDS) return `must have at most ${MAX_TERM_WORDS} words`;
  return null;
}

/** The place of a problem: an entry, and the index of its spoken form; null for its text. */
export type VocabularyProblem = { entry: number; spoken: number | null; message: string };

/** Returns the first problems of clean entries; empty if they are valid. */
export function listVocabularyProblems(entries: readonly VocabularyEntry[]): VocabularyProblem[] {
  const problems: VocabularyProblem[] = [];
  const terms = new Map<string, string>();
  const forms = new Map<string, string>();
  let characters = 0;
  for (const [entry, { text, spoken_as }] of entries.entries()) {
    const report = (spoken: number | null, message: string) => problems.push({ entry, spoken, message });
    const check = (form: string, spoken: number | null, seen: Map<string, string>): void => {
      characters += form.length;
      const key = toFormKey(form);
      const other = seen.get(key);
      const problem = findTermProblem(form);
      if (problem !== null) report(spoken, problem);
      else if (other !== undefined)
        report(spoken, other === text && spoken !== null ? "is repeated" : `is already in the entry "${other}"`);
      seen.set(key, other ?? text);
    };
    check(text, null, terms);
    for (const [index, form] of spoken_as.entries()) check(form, index, forms);
    if (spoken_as.length > MAX_SPOKEN_FORMS) report(null, `must have at most ${MAX_SPOKEN_FORMS} spoken forms`);
    if (problems.length >= MAX_FIELD_ERRORS) break;
  }
  if (entries.length > MAX_ENTRIES)
    problems.push({ entry: MAX_ENTRIES, spoken: null, message: `must be one of at most ${MAX_ENTRIES} entries` });
  else if (characters > MAX_VOCABULARY_CHARACTERS)
    problems.push({
      entry: entries.length - 1,
      spoken: null,
      message: `exceeds the limit of ${MAX_VOCABULARY_CHARACTERS} characters for a vocabulary`,
    });
  return problems.slice(0, MAX_FIELD_ERRORS);
}

/** Returns the problems as errors of the fields of a request. */
export const toFieldErrors = (problems: readonly VocabularyProblem[]): FieldError[] =>
  problems.map(({ entry, spoken, message }) => ({
    field: `body.entries.${entry}.${spoken === null ? "text" : `spoken_as.${spoken}`}`,
    message,
  }));

/**
 * Returns both lists as one. Where entries have a term or a spoken form in common, the entry of the first list counts:
 * that of the second one is omitted, or loses the form.
 */
export function mergeVocabularies(
  first: readonly VocabularyEntry[],
  second: readonly VocabularyEntry[],
): VocabularyEntry[] {
  const taken = new Set(first.flatMap(({ text, spoken_as }) => [text, ...spoken_as].map(toFormKey)));
  return [
    ...first,
    ...second
      .filter(({ text }) => !taken.has(toFormKey(text)))
      .map(({ text, spoken_as }) => ({ text, spoken_as: spoken_as.filter((form) => !taken.has(toFormKey(form))) })),
  ];
}
