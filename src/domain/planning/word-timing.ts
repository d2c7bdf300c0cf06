/**
 * Stage 2: corrects word times by the audio. Recognizers stretch a word over the adjacent pause or over a filler that
 * they omit, and sometimes write a single isolated word several times.
 */
import type { Word } from "../speech";
import { normalizeWords } from "../text/normalize";
import { fromSeconds } from "../time";
import type { AudioActivity } from "./audio-activity";
import { coveredDuration, durationOf, findOverlapping, overlapDuration } from "./spans";

/** Words contain no pause of this length. */
const MIN_PAUSE_TICKS = fromSeconds(0.25);
/** A longer "word" has no usable times, because nothing shows where in it the word was spoken. */
const MAX_WORD_TICKS = fromSeconds(2.5);

/** Trims each word that spans a pause to the side of the pause with most of its audio. */
export function trimWordsAtPauses(words: readonly Word[], activity: AudioActivity): Word[] {
  return words.map((word) => {
    const regions = findOverlapping(activity.speechRegions, word);
    if (regions.length < 2 || durationOf(word) > MAX_WORD_TICKS) return word;
    const sides: { start: number; end: number; loud: number }[] = [];
    for (const region of regions) {
      const last = sides.at(-1);
      const loud = overlapDuration(region, word);
      if (last && region.start - last.end < MIN_PAUSE_TICKS) {
        last.end = region.end;
        last.loud += loud;
      } else sides.push({ start: region.start, end: region.end, loud });
    }
    if (sides.length < 2) return word;
    const loudest = sides.reduce((best, side) => (side.loud > best.loud ? side : best));
    return { ...word, start: Math.max(word.start, loudest.start), end: Math.min(word.end, loudest.end) };
  });
}

/** Maximum share of audio in a duplicated word, which was not actually repeated. */
const MAX_DUPLICATE_AUDIO_SHARE = 0.3;
const MAX_DUPLICATE_GAP_TICKS = fromSeconds(0.15);

/** Returns the words that duplicate the previous word in the silence after it: they were said only once. */
export function findDuplicatedWords(words: readonly Word[], activity: AudioActivity): Set<Word> {
  const found = new Set<Word>();
  for (const [i, word] of words.entries()) {
    const before = words[i - 1];
    if (!before || word.start - before.end > MAX_DUPLICATE_GAP_TICKS) continue;
    const loud = coveredDuration(activity.speechRegions, word);
    if (loud > MAX_DUPLICATE_AUDIO_SHARE * durationOf(word)) continue;
    if (normalizeWords(before.text).join() === normalizeWords(word.text).join()) found.add(word);
  }
  return found;
}
