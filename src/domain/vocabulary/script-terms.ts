/** Collects names and unusual terms from a script, with which the words of its recording are corrected. Pure. */
import { MAX_ENTRIES, MAX_TERM_CHARACTERS, toFormKey, type VocabularyEntry } from "./entries";

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu;
/** Shorter words sound like too many others. */
const MIN_LETTERS = 4;
/** A title before a name, whose period does not end a sentence. */
const TITLE = /(?:^|\P{L})(?:mr|mrs|ms|dr|prof|st)\. $/iu;
const SENTENCE_START = /^$|[.!?…:;。！？"“„«([•–—-]$/u;

/** Returns the keys of all words of a script. */
export const listScriptKeys = (script: string): Set<string> =>
  new Set(
    [...script.matchAll(WORD)]
      .flatMap(([word]) => [word, ...word.split(/['’-]/)])
      .map(toFormKey)
      .filter(Boolean),
  );

/**
 * Returns the names and terms of a script: words with a capital letter inside, and words that are not frequent and have
 * a capital letter in the middle of a sentence. Returns none if most words of the script are capitalized. In German,
 * which capitalizes all nouns, only capitals inside a word count.
 */
export function collectScriptTerms(
  script: string,
  language: string | null,
  isCommon: (word: string) => boolean,
): VocabularyEntry[] {
  const terms = new Map<string, string>();
  const lowered = new Set<string>();
  let [capitals, words] = [0, 0];
  for (const match of script.matchAll(WORD)) {
    const text = match[0].replace(/['’]s$/iu, "").replace(/['’-]$/u, "");
    if (/^\p{Ll}/u.test(text)) lowered.add(toFormKey(text));
    words++;
    const isCapital = /^\p{Lu}/u.test(text);
    if (isCapital) capitals++;
    const letters = [...text].filter((letter) => /\p{L}/u.test(letter)).length;
    if (letters < MIN_LETTERS || text.length > MAX_TERM_CHARACTERS || isCommon(text.toLowerCase())) continue;
    const isMixed = /^.+\p{Lu}/u.test(text) && /\p{Ll}/u.test(text);
    const before = script.slice(Math.max(0, match.index - 8), match.index);
    const startsSentence = (SENTENCE_START.test(before.trim()) || before.includes("\n")) && !TITLE.test(before);
    if (isMixed || (isCapital && !startsSentence && language !== "de")) terms.set(toFormKey(text), text);
  }
  if (capitals > words / 2) return [];
  return [...terms]
    .filter(([key]) => key !== "" && !lowered.has(key))
    .slice(0, MAX_ENTRIES)
    .map(([, text]) => ({ text, spoken_as: [] }));
}
