/** Words and vocabularies for the tests of replacements. */
import type { Word } from "../../../../src/domain/speech";
import type { CandidateRules } from "../../../../src/domain/vocabulary/candidates";
import { createCommonFormCheck } from "../../../../src/domain/vocabulary/common-forms";

const COMMON = new Set("i met the off cut of our in a and we use it was here said before apple olive god".split(" "));
export const isCommon = (word: string) => COMMON.has(word);
const isCommonForm = createCommonFormCheck("en", isCommon);
/** The rules in which these words are common, and some words stay. */
export const toRules = (kept: ReadonlySet<string> = new Set()): CandidateRules => ({ isCommon, isCommonForm, kept });
export const TICKS = 300_000;

/** Words of 0.3 s in a row; `~` before one makes it doubtful, `≈` slightly, a number is a pause in seconds. */
export function toWords(text: string): Word[] {
  let at = 0;
  return text.split(" ").flatMap((part) => {
    if (/^\d+$/.test(part)) {
      at += Number(part) * 1_000_000;
      return [];
    }
    at += TICKS;
    const confidence = part.startsWith("~") ? 0.4 : part.startsWith("≈") ? 0.8 : 0.97;
    return [{ text: part.replace(/^[~≈]/, ""), start: at - TICKS, end: at, confidence }];
  });
}

export type Options = { script?: string; vocabulary: Record<string, string[]> };
export const toEntries = (vocabulary: Options["vocabulary"]) =>
  Object.entries(vocabulary).map(([text, spoken_as]) => ({ text, spoken_as }));
