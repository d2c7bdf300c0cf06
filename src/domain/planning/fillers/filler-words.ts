/** Stage 4, fillers: finds "um", "uh" and similar words in the transcript that are isolated or stretched. */
import type { Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import { fromSeconds, type Span } from "../../time";
import { type AudioActivity, measureContrast } from "../audio-activity";
import type { RuleMatch } from "../rules";
import { coveredDuration } from "../spans";
import { pauseBefore } from "../tokens";

const FILLERS = /^(?:u+m+|u+h+|u+h+m+|e+r+m*|e+h+m*|h+m+|m{2,}|a+h+m*)$/;
/** Words that are also names, exclamations or other words: fillers only with a pause on both sides. */
const AMBIGUOUS_FILLERS = /^(?:e+r+|e+h+|a+h+|mm|hm)$/;
/** Words that "um", "uh" and "er" are recognized as and that are rarely spoken alone. */
export const FILLER_HOMOPHONES = new Set("dumb dump bert burt burke thumb them her sum err un ham".split(" "));
export const ARTICLES = new Set(["a", "an", "the"]);
const MIN_PAUSE_TICKS = fromSeconds(0.06);
const MIN_STRETCHED_TICKS = fromSeconds(0.28);
const PAUSE_AFTER_LAST_TICKS = fromSeconds(1);
/** Nobody holds one vowel longer: a longer "um" hides words. */
export const MAX_FILLER_TICKS = fromSeconds(1.2);
/** With less contrast, words are recognized as fillers. */
const MIN_CONTRAST_DB = 20;

/** Returns whether a word is spelled like a filler. */
export function isFillerText(text: string): boolean {
  const normal = normalizeWords(text);
  return normal.length === 1 && FILLERS.test(normal[0]!);
}

/** Returns whether speech near a span stands out enough from the background to distinguish a filler from a word. */
export const isClear = (span: Span, activity: AudioActivity): boolean =>
  measureContrast(activity, span) >= MIN_CONTRAST_DB;

/**
 * Returns the words that are fillers, by index: those with a pause on at least one side, or stretched ones. A filler
 * that runs into a word with the same vowel or consonant stays, because there is no place to cut between the two.
 */
export function findFillers(words: readonly Word[], activity: AudioActivity): Map<number, RuleMatch<"filler.written">> {
  const found = new Map<number, RuleMatch<"filler.written">>();
  for (const [i, word] of words.entries()) {
    if (!isFillerText(word.text)) continue;
    const text = normalizeWords(word.text)[0]!;
    const next = words[i + 1];
    const before = pauseBefore(words, i);
    const after = next ? pauseBefore(words, i + 1) : PAUSE_AFTER_LAST_TICKS;
    const duration = word.end - word.start;
    const isApart = AMBIGUOUS_FILLERS.test(text)
      ? Math.min(before, after) >= MIN_PAUSE_TICKS
      : Math.max(before, after) >= MIN_PAUSE_TICKS || duration >= MIN_STRETCHED_TICKS;
    if (!isApart || coveredDuration(activity.speechRegions, word) > MAX_FILLER_TICKS) continue;
    if (next && after < MIN_PAUSE_TICKS && runsInto(text, next)) continue;
    if (!isClear(word, activity)) continue;
    found.set(i, { rule: "filler.written", scores: { duration, pause: Math.max(before, after) } });
  }
  return found;
}

/** Returns whether a word begins with the sound that ends the filler: a vowel after "uh", "m" after "um". */
function runsInto(filler: string, next: Word): boolean {
  const first = normalizeWords(next.text)[0]?.[0] ?? "";
  return filler.endsWith("m") ? first === "m" : first !== "" && "aeiou".includes(first);
}
