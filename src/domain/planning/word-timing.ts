/**
 * Words where there is no sound: recognisers stretch a word over the pause beside it, and over a hesitation that they leave out, and a
 * single word that is said apart they may write several times.
 */
import type { Word } from "../speech";
import { normalWords } from "../text/normal";
import { fromSeconds } from "../time";
import { type AudioActivity, findOverlapping, overlapDuration } from "./audio-activity";

/** No word has so long a pause in its midst. */
const PAUSE = fromSeconds(0.25);
/** What is longer is no word: nobody knows where in it something was said. */
const LONGEST = fromSeconds(2.5);

/** The words, each of those that reach over a pause drawn back to the side on which most of it lies. */
export function trimWordsAtPauses(words: readonly Word[], activity: AudioActivity): Word[] {
  return words.map((word) => {
    const speechRegions = findOverlapping(activity.speechRegions, word);
    if (speechRegions.length < 2 || word.end - word.start > LONGEST) return word;
    const sides: { start: number; end: number; loud: number }[] = [];
    for (const region of speechRegions) {
      const last = sides.at(-1);
      const loud = overlapDuration(region, word);
      if (last && region.start - last.end < PAUSE) {
        last.end = region.end;
        last.loud += loud;
      } else sides.push({ start: region.start, end: region.end, loud });
    }
    if (sides.length < 2) return word;
    const home = sides.reduce((best, side) => (side.loud > best.loud ? side : best));
    return { ...word, start: Math.max(word.start, home.start), end: Math.min(word.end, home.end) };
  });
}

/** Of a repeated word so much may be sound when nothing was said again. */
const SOUNDING = 0.3;
const MAX_DUPLICATE_GAP_TICKS = fromSeconds(0.15);

/** The words that repeat the one before them in the quiet after it: they were said once. */
export function findDuplicatedWords(words: readonly Word[], activity: AudioActivity): Set<Word> {
  const found = new Set<Word>();
  for (const [i, word] of words.entries()) {
    const before = words[i - 1];
    if (!before || word.start - before.end > MAX_DUPLICATE_GAP_TICKS) continue;
    const loud = findOverlapping(activity.speechRegions, word).reduce(
      (sum, region) => sum + overlapDuration(region, word),
      0,
    );
    if (loud > SOUNDING * (word.end - word.start)) continue;
    if (normalWords(before.text).join() === normalWords(word.text).join()) found.add(word);
  }
  return found;
}
