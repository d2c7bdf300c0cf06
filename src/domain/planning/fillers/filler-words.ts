/** Stage 4, fillers: finds "um", "uh" and similar words in the transcript that are isolated or stretched. */

import type { Word } from "../../speech";
import { normalizeWords } from "../../text/normalize";
import type { Span } from "../../time";
import { type AudioActivity, measureContrast } from "../audio-activity";
import { COMMON } from "../common-thresholds";
import { isFillerText, type Lexicon } from "../lexicon/lexicon";
import type { RuleMatch } from "../rules";
import { coveredDuration } from "../spans";
import { pauseBefore } from "../tokens";
import { FILLERS } from "./thresholds";

/** Returns whether speech near a span stands out enough from the background to distinguish a filler from a word. */
export const isClear = (span: Span, activity: AudioActivity): boolean =>
  measureContrast(activity, span) >= COMMON.minContrastDb;

/**
 * Returns the words that are fillers, by index: those with a pause on at least one side, or stretched ones. A filler
 * that runs into a word with the same vowel or consonant stays, because there is no place to cut between the two.
 */
export function findFillers(
  words: readonly Word[],
  activity: AudioActivity,
  lexicon: Lexicon,
): Map<number, RuleMatch<"filler.written">> {
  const found = new Map<number, RuleMatch<"filler.written">>();
  for (const [i, word] of words.entries()) {
    if (!isFillerText(word.text, lexicon)) continue;
    const text = normalizeWords(word.text, lexicon.language)[0]!;
    const next = words[i + 1];
    const before = pauseBefore(words, i);
    const after = next ? pauseBefore(words, i + 1) : COMMON.longPause;
    const duration = word.end - word.start;
    const isApart = lexicon.ambiguousFillers.test(text)
      ? Math.min(before, after) >= FILLERS.minPause
      : Math.max(before, after) >= FILLERS.minPause || duration >= FILLERS.minStretched;
    if (!isApart || coveredDuration(activity.speechRegions, word) > COMMON.maxFiller) continue;
    if (next && after < FILLERS.minPause && runsInto(text, next, lexicon)) continue;
    if (!isClear(word, activity)) continue;
    found.set(i, { rule: "filler.written", scores: { duration, pause: Math.max(before, after) } });
  }
  return found;
}

/** Returns whether a word begins with the sound that ends the filler: a vowel after "uh", "m" after "um". */
function runsInto(filler: string, next: Word, { language }: Lexicon): boolean {
  const first = normalizeWords(next.text, language)[0]?.[0] ?? "";
  return filler.endsWith("m") ? first === "m" : first !== "" && "aeiou".includes(first);
}
