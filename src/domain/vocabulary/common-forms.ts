/**
 * Forms that are common words of a language. A term must not take the place of one wherever it is recognized: "the" is
 * nearly always "the", even if "Theo" was recognized as "the" once. Pure.
 */
import { ENGLISH } from "../planning/lexicon/english";
import { findLexicon } from "../planning/lexicon/find-lexicon";
import { isContentWord } from "../planning/lexicon/lexicon";
import { normalizeWords } from "../text/normalize";
import { trimPunctuation } from "./entries";

const LETTER = /^\P{L}*\p{L}\P{L}*$/u;
const CAPITAL = /^\P{L}*\p{Lu}/u;

/**
 * Returns a function that returns whether a form is a common word, or consists of function words only ("of the"). A
 * word with a capital letter is a name ("Mark") unless it starts a sentence. Letters in a row spell something.
 * `isFrequentWord` applies to English only: frequent words of other languages are unknown.
 */
export function createCommonFormCheck(
  language: string | null,
  isFrequentWord: (word: string) => boolean,
): (form: string, startsSentence?: boolean) => boolean {
  const lexicon = findLexicon(language);
  return (form, startsSentence = false) => {
    const parts = form.trim().split(/\s+/u);
    if (parts.length > 1 && parts.every((part) => LETTER.test(part))) return false;
    const words = normalizeWords(form, lexicon.language);
    if (words.length > 0 && words.every((word) => !isContentWord(word, lexicon))) return true;
    if (lexicon !== ENGLISH || parts.length > 1 || (CAPITAL.test(form) && !startsSentence)) return false;
    const word = trimPunctuation(form.toLowerCase());
    return word !== "" && isFrequentWord(word);
  };
}
