/** The lexicons by language. */
import { ENGLISH } from "./english";
import { FRENCH } from "./french";
import { GERMAN } from "./german";
import { createEmptyLexicon, type Lexicon } from "./lexicon";
import { SPANISH } from "./spanish";

const LEXICONS = [ENGLISH, GERMAN, SPANISH, FRENCH];

/** Returns the lexicon of a language (BCP 47), an empty one if it has none. An unknown language is English. */
export function findLexicon(language: string | null): Lexicon {
  const name = (language ?? ENGLISH.language).toLowerCase().split("-")[0]!;
  return LEXICONS.find((lexicon) => lexicon.language === name) ?? createEmptyLexicon(name);
}
