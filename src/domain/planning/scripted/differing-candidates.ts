/** Stage 5: accepts the takes of a line that differs from what is said: its wrong words align nowhere, the others align. */
import type { ForcedAlignment } from "../../speech";
import { type AudioActivity, measureClipping } from "../audio-activity";
import type { LineCandidate } from "./line-candidates";

/** A word below this log probability is not what is said. At most this share of a line's words are not. */
const MAX_WRONG_WORD = -6;
const MAX_WRONG_SHARE = 1 / 3;
/** Mean log probability of the other words: a word's is that of its worst token. */
const MIN_MEAN_OF_OTHERS = -1.6;
/** A shorter line can align with something else by chance. */
const MIN_OTHER_WORDS = 3;
/** The words beside a wrong one align badly, too. They count when fewer than this are apart from it. */
const MIN_WORDS_APART = 2;
/** A take has at least this share of the line's number of words. */
const MIN_LENGTH_RATIO = 0.75;

/**
 * Returns the candidates of a line, with those accepted in which the same words do not align as in the best of them, or one more although
 * the text is as similar. When one of them aligns as a whole the script is right, and the others stay as they are.
 */
export function acceptDiffering(row: readonly LineCandidate[], activity: AudioActivity): LineCandidate[] {
  const wrong = row.map(findWrongWords);
  const best = wrong.reduce((a, b) => (b && (!a || b.size < a.size) ? b : a), null);
  if (!best || best.size === 0) return [...row];
  const similarity = row[wrong.indexOf(best)]!.score;
  // The words beside a wrong one align badly, too.
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

/** Returns the indices of the words that are not what is said; null when a candidate is no take of the line, or only a part of one. */
function findWrongWords({ alignment, pairs, from, to }: LineCandidate): Set<number> | null {
  const { words } = alignment ?? { words: [] };
  const wrong = new Set(words.flatMap((word, k) => (word.logProb < MAX_WRONG_WORD ? [k] : [])));
  const others = words.length - wrong.size;
  if (others < MIN_OTHER_WORDS || wrong.size > MAX_WRONG_SHARE * words.length) return null;
  if (measureMeanOfOthers(alignment!) < MIN_MEAN_OF_OTHERS) return null;
  // Something is said in place of the first and the last words, and the take is about as long as its line.
  const isAtStart = !wrong.has(0) || from < pairs.find((token) => token >= 0)!;
  const isAtEnd = !wrong.has(words.length - 1) || to - 1 > pairs.findLast((token) => token >= 0)!;
  return isAtStart && isAtEnd && to - from >= MIN_LENGTH_RATIO * pairs.length ? wrong : null;
}

/** Returns the mean of the words that are neither wrong nor beside a wrong one, as long as there are some. */
function measureMeanOfOthers({ words }: ForcedAlignment): number {
  const isWrong = (k: number) => words[k] !== undefined && words[k].logProb < MAX_WRONG_WORD;
  const others = words.filter((_, k) => !isWrong(k));
  const apart = words.filter((_, k) => !isWrong(k - 1) && !isWrong(k) && !isWrong(k + 1));
  const rated = apart.length >= MIN_WORDS_APART ? apart : others;
  return rated.reduce((sum, word) => sum + word.logProb, 0) / rated.length;
}

const rateOthers = (alignment: ForcedAlignment, wrong: number) =>
  Math.max(0, 1 + measureMeanOfOthers(alignment) / 4) * (1 - wrong / alignment.words.length);
