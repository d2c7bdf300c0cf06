/** Stage 5: accepts takes of a line that differs from what is said: only its wrong words do not align. */
import type { ForcedAlignment } from "../../speech";
import { type AudioActivity, measureClipping } from "../audio-activity";
import type { LineCandidate } from "./line-candidates";

/** A word below this log probability is not the spoken one. Maximum share of such words in a line. */
const MAX_WRONG_WORD = -6;
const MAX_WRONG_SHARE = 1 / 3;
/** Minimum mean log probability of the other words; a word has that of its worst token. */
const MIN_MEAN_OF_OTHERS = -1.6;
/** A shorter line may align with something else by coincidence. */
const MIN_OTHER_WORDS = 3;
/** Words next to a wrong one also align badly. They count if fewer words than this are farther away. */
const MIN_WORDS_APART = 2;
/** Minimum length of a take, as a share of the line's number of words. */
const MIN_LENGTH_RATIO = 0.75;

/**
 * Returns the candidates of a line, accepting those in which the same words do not align as in the best of them, or one
 * more although the text is as similar. If one of them aligns as a whole, the script is right, and the others stay as
 * they are.
 */
export function acceptDiffering(row: readonly LineCandidate[], activity: AudioActivity): LineCandidate[] {
  const wrong = row.map(findWrongWords);
  const best = wrong.reduce((a, b) => (b && (!a || b.size < a.size) ? b : a), null);
  if (!best || best.size === 0) return [...row];
  const similarity = row[wrong.indexOf(best)]!.score;
  // Words next to a wrong one also align badly.
  const isWrongInBest = (k: number) => best.has(k) || best.has(k - 1) || best.has(k + 1);
  return row.map((one, i) => {
    const own = wrong[i];
    if (!own) return one;
    const more = [...own].filter((k) => !isWrongInBest(k)).length;
    if (more > (one.score >= similarity ? 1 : 0)) return one;
    const rated = rateOthers(one.alignment!, own.size) * (1 - measureClipping(activity, one.window));
    return { ...one, accepted: true, complete: true, quality: Math.max(one.quality, rated) };
  });
}

/** Returns the indices of the wrong words; null if a candidate is not a complete take of the line. */
function findWrongWords({ alignment, pairs, from, to }: LineCandidate): Set<number> | null {
  const { words } = alignment ?? { words: [] };
  const wrong = new Set(words.flatMap((word, k) => (word.logProb < MAX_WRONG_WORD ? [k] : [])));
  const others = words.length - wrong.size;
  if (others < MIN_OTHER_WORDS || wrong.size > MAX_WRONG_SHARE * words.length) return null;
  if (measureMeanOfOthers(alignment!) < MIN_MEAN_OF_OTHERS) return null;
  // The first and last words are replaced with others, and the take is about as long as its line.
  const isAtStart = !wrong.has(0) || from < pairs.find((token) => token >= 0)!;
  const isAtEnd = !wrong.has(words.length - 1) || to - 1 > pairs.findLast((token) => token >= 0)!;
  return isAtStart && isAtEnd && to - from >= MIN_LENGTH_RATIO * pairs.length ? wrong : null;
}

/** Returns the mean over the words that are neither wrong nor next to a wrong one, if there are any. */
function measureMeanOfOthers({ words }: ForcedAlignment): number {
  const isWrong = (k: number) => words[k] !== undefined && words[k].logProb < MAX_WRONG_WORD;
  const others = words.filter((_, k) => !isWrong(k));
  const apart = words.filter((_, k) => !isWrong(k - 1) && !isWrong(k) && !isWrong(k + 1));
  const rated = apart.length >= MIN_WORDS_APART ? apart : others;
  return rated.reduce((sum, word) => sum + word.logProb, 0) / rated.length;
}

const rateOthers = (alignment: ForcedAlignment, wrong: number) =>
  Math.max(0, 1 + measureMeanOfOthers(alignment) / 4) * (1 - wrong / alignment.words.length);
