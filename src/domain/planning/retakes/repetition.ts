/** A repetition: a range of tokens that resembles later tokens. */
import type { Word } from "../../speech";
import type { RepetitionScores } from "../rules";
import { pauseBefore, type Token } from "../tokens";

/** The input of the rules on retakes. `removed[i]` is 1 if token i is already removed. */
export type RetakeContext = {
  words: readonly Word[];
  tokens: readonly Token[];
  /** Whether a phrase starts at each token. */
  phraseStarts: readonly boolean[];
  removed: Uint8Array;
  distanceBetween: (a: string, b: string) => number;
};

/**
 * Tokens `[from, end)` resemble the first `matched` tokens from `retakeStart` on; `cost` counts the differences.
 * `contradictedByAudio`: a word inside sounds different. `confirmedByAudio`: the words sound the same. `alignment` is
 * the mean log probability of words found by forced alignment; null for a repetition found by text.
 */
export type Repetition = {
  from: number;
  end: number;
  retakeStart: number;
  matched: number;
  cost: number;
  contradictedByAudio: boolean;
  confirmedByAudio: boolean;
  alignment: number | null;
};

/** A word with less confidence may be interrupted. */
export const MIN_WORD_CONFIDENCE = 0.6;
/** This many equal words are not a coincidence: words after them are a slip if the retake continues past it. */
export const MIN_LONG_MATCH_WORDS = 6;
/** Maximum distance of two spellings of one word, and of similar words. */
export const MAX_SAME_WORD_DISTANCE = 0.3;
export const MAX_SIMILAR_WORD_DISTANCE = 0.6;

const MIN_PREFIX_CHARACTERS = 3;

/** Returns whether a normalized word is the beginning of another one that was interrupted. */
export const isBrokenOffWord = (word: string, whole: string): boolean =>
  word.length >= MIN_PREFIX_CHARACTERS && word !== whole && whole.startsWith(word);

/** Returns the tokens `[from, to)` that are not removed. */
export function listKept(removed: Uint8Array, from: number, to: number): number[] {
  const out: number[] = [];
  for (let i = from; i < to; i++) if (!removed[i]) out.push(i);
  return out;
}

/** Returns the scores that the rules for a repetition report. */
export function toScores(tokens: readonly Token[], repetition: Repetition): RepetitionScores {
  const { from, end, retakeStart, matched, cost, alignment } = repetition;
  const words = end - from;
  const similarity = alignment === null ? 1 - cost / words : matched / words;
  return {
    repeatedAt: tokens[retakeStart]!.start,
    pause: pauseBefore(tokens, retakeStart),
    words,
    similarity: Math.min(1, Math.max(0, similarity)),
    alignment,
  };
}
