/** Stage 4, fillers: "um", "uh" and similar words in the transcript, apart from the words around them or stretched. */
import type { Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import { fromSeconds } from "../../time";
import type { RuleMatch } from "../rules";
import { pauseBefore } from "../tokens";

const FILLERS = /^(?:u+m+|u+h+|u+h+m+|e+r+m*|e+h+m*|h+m+|m+m*h+m+|m{2,}|a+h+m+|[äöe]+h+m*)$/;
/** Also words or names in some language, or part of "uh-huh": fillers only with a pause on both sides. */
const AMBIGUOUS_FILLERS = new Set(["er", "eh", "ah", "mm", "hm"]);
/** Words that "um", "uh" and "er" are recognized as and that are seldom spoken alone. */
export const FILLER_HOMOPHONES = new Set("dumb dump bert burt burke thumb them her sum err un ham".split(" "));
export const ARTICLES = new Set(["a", "an", "the"]);
const MIN_PAUSE_TICKS = fromSeconds(0.06);
const MIN_STRETCHED_TICKS = fromSeconds(0.28);
const PAUSE_AFTER_LAST_TICKS = fromSeconds(1);

/** Returns whether a word is spelled like a filler. */
export function isFillerText(text: string): boolean {
  const normal = normalizeWords(text);
  return normal.length === 1 && FILLERS.test(normal[0]!);
}

/** Returns the words that are fillers, by index: with a pause on at least one side, or stretched. */
export function findFillers(words: readonly Word[]): Map<number, RuleMatch<"filler.written">> {
  const found = new Map<number, RuleMatch<"filler.written">>();
  for (const [i, word] of words.entries()) {
    if (!isFillerText(word.text)) continue;
    const before = pauseBefore(words, i);
    const after = i + 1 < words.length ? pauseBefore(words, i + 1) : PAUSE_AFTER_LAST_TICKS;
    const duration = word.end - word.start;
    const isFiller = AMBIGUOUS_FILLERS.has(normalizeWords(word.text)[0]!)
      ? Math.min(before, after) >= MIN_PAUSE_TICKS
      : Math.max(before, after) >= MIN_PAUSE_TICKS || duration >= MIN_STRETCHED_TICKS;
    if (isFiller) found.set(i, { rule: "filler.written", scores: { duration, pause: Math.max(before, after) } });
  }
  return found;
}
