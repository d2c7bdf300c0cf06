/** Hesitations: "um", "uh" and their kind, said apart from the words around them or drawn out. */

import type { Word } from "../../speech";
import { normalWords } from "../../text/normal";
import { fromSeconds } from "../../time";
import { pauseBefore } from "../tokens";

const FILLERS = /^(?:u+m+|u+h+|u+h+m+|e+r+m*|e+h+m*|h+m+|m+m*h+m+|m{2,}|a+h+m+|[äöe]+h+m*)$/;
/** Also words or names in some language, or part of "uh-huh": fillers only when they stand alone. */
const ALONE = new Set(["er", "eh", "ah", "mm", "hm"]);
const APART = fromSeconds(0.06);
const STRETCHED = fromSeconds(0.28);

/** Whether the spelling of a word is that of a hesitation. */
export function isFillerText(text: string): boolean {
  const normal = normalWords(text);
  return normal.length === 1 && FILLERS.test(normal[0]!);
}

/** The indices of the words that are fillers: isolated on at least one side, or stretched. */
export function findFillers(words: readonly Word[]): Set<number> {
  const found = new Set<number>();
  for (const [i, word] of words.entries()) {
    if (!isFillerText(word.text)) continue;
    const before = pauseBefore(words, i);
    const after = i + 1 < words.length ? pauseBefore(words, i + 1) : fromSeconds(1);
    const stretched = word.end - word.start >= STRETCHED;
    const alone = ALONE.has(normalWords(word.text)[0]!);
    if (alone ? before >= APART && after >= APART : before >= APART || after >= APART || stretched) found.add(i);
  }
  return found;
}
