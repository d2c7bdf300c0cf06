/** Repetitions that the transcript spells alike. */
import { isRemark } from "./remarks";
import { isBrokenOffWord, MAX_SIMILAR_WORD_DISTANCE, type Repetition, type RetakeContext } from "./repetition";

/** Maximum share of a take's words that may differ from the retake's. */
const MAX_DIFFERENT_SHARE = 0.24;
/** Cost of a last word that is the beginning of the word in its place. */
const BROKEN_OFF_COST = 0.2;
/** If this share of the words after a matching phrase differs, they are another phrase, perhaps a remark. */
const MIN_OTHER_PHRASE_SHARE = 0.5;
/** Maximum number of words that the retake may have in addition. */
const MAX_ADDED_WORDS = 6;

/** Returns the longest beginning of tokens `[from, retakeStart)` that is spelled like what follows; null if none is. */
export function findTextRepetition(
  context: RetakeContext,
  from: number,
  retakeStart: number,
  contradictedByAudio: boolean,
): Repetition | null {
  const { tokens, distanceBetween, phraseStarts } = context;
  if (distanceBetween(tokens[from]!.normal, tokens[retakeStart]!.normal) > MAX_SIMILAR_WORD_DISTANCE) return null;
  const rows = retakeStart - from;
  const columns = Math.min(tokens.length - retakeStart, rows + MAX_ADDED_WORDS);
  let previous = Array.from({ length: columns + 1 }, (_, j) => j);
  let best: Repetition | null = null;
  /** The best repetition that ends with a phrase. */
  let phrase: Repetition | null = null;
  for (let i = 1; i <= rows; i++) {
    const normal = tokens[from + i - 1]!.normal;
    const row = [i];
    let lowest = i;
    let matched = 0;
    let lastMatches = false;
    for (let j = 1; j <= columns; j++) {
      const other = tokens[retakeStart + j - 1]!.normal;
      const distance = distanceBetween(normal, other);
      const substituted = previous[j - 1]! + distance;
      row.push(Math.min(substituted, previous[j]! + 1, row[j - 1]! + 1));
      const brokenOff = isBrokenOffWord(normal, other) ? previous[j - 1]! + BROKEN_OFF_COST : Number.POSITIVE_INFINITY;
      const ending = Math.min(row[j]!, brokenOff);
      if (ending >= lowest) continue;
      lowest = ending;
      matched = j;
      lastMatches = ending === brokenOff || (ending === substituted && distance <= MAX_SIMILAR_WORD_DISTANCE);
    }
    previous = row;
    if (lastMatches && lowest <= i * MAX_DIFFERENT_SHARE) {
      const audio = { contradictedByAudio, confirmedByAudio: false, alignment: null };
      best = { from, retakeStart, end: from + i, matched, cost: lowest, ...audio };
      const beyond = phrase ? best.end - phrase.end : 0;
      const isSamePhrase = !phrase || lowest - phrase.cost <= MIN_OTHER_PHRASE_SHARE * beyond;
      if (phraseStarts[best.end] && isSamePhrase) phrase = best;
    }
    // Words that start differently are not a repetition, however well they continue.
    if (lowest > 0.75 + 0.3 * i) break;
  }
  return phrase && phrase.end < retakeStart && isRemark(context, range(phrase.end, retakeStart)) ? phrase : best;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
