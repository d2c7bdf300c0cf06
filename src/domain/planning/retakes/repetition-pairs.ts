/** Selects the phrase starts to compare by audio. */

import type { Word } from "../../speech";
import { measureWordDistance } from "../../text/normalize";
import type { Span, Ticks } from "../../time";
import type { Lexicon } from "../lexicon/lexicon";
import { ACTIVITY, COMMON, RETAKES } from "../thresholds";
import { endsSentence, findPhraseStarts, isAtAnyPace, type Token, toMaxLength, UNRECOGNIZED } from "../tokens";

/**
 * The take at `from` and the retake at `retakeStart`. The take extends to `until` at most; its first phrase ends at
 * `end`. The first `count` tokens of the retake are enough to identify it. All are token indices.
 */
export type RepetitionPair = { from: number; retakeStart: number; until: number; end: number; count: number };

/**
 * The first `matched` tokens from `retakeStart` on are also spoken in `[from, end)`, followed by `trailing` more audio.
 * `alignment` is their mean log probability; null if the audio of both takes was compared, with its `distance`. `weak`
 * evidence means that words that were not spoken could align as well, `exchange` that the texts of both takes fit the
 * audio of each, `audio` that both sound alike.
 */
export type AcousticRepetition = {
  from: number;
  retakeStart: number;
  end: number;
  matched: number;
  trailing: Ticks;
  alignment: number | null;
  distance?: number;
  evidence: "clear" | "weak" | "exchange" | "audio";
};
/** Returns the pairs to compare, in order of the retake. */
export function listRepetitionPairs(
  words: readonly Word[],
  tokens: readonly Token[],
  lexicon: Lexicon,
): RepetitionPair[] {
  const starts = findPhraseStarts(words, tokens);
  return starts.flatMap((retakeStart, n) => {
    const count = countTextTokens(words, tokens, retakeStart);
    const length = tokens[retakeStart + count - 1]!.end - tokens[retakeStart]!.start;
    const isWorthComparing = (from: number) => {
      if (tokens[retakeStart]!.normal === UNRECOGNIZED)
        return isAboutAsLong(tokens, from, findPhraseEnd(words, tokens, from, retakeStart), retakeStart);
      if (addsConjunction(tokens, from, retakeStart, lexicon)) return false;
      return startsAlike(tokens, from, retakeStart) || isClose(tokens, from, retakeStart);
    };
    return starts
      .slice(Math.max(0, n - COMMON.maxComparedWords), n)
      .filter((from) => isNear(tokens, from, retakeStart) && isWorthComparing(from))
      .slice(-RETAKES.maxEarlierStarts)
      .map((from) => {
        const maxLength = toMaxLength(length);
        let until = from + 1;
        while (until < retakeStart && tokens[until]!.end - tokens[from]!.start <= maxLength) until++;
        return { from, retakeStart, until, end: findPhraseEnd(words, tokens, from, retakeStart), count };
      });
  });
}

/** Returns the span of audio of tokens `[from, to)`, with some of the silence around it. */
export function toWindow(tokens: readonly Token[], from: number, to: number, duration: Ticks): Span {
  const before = tokens[from - 1]?.end ?? 0;
  const after = tokens[to]?.start ?? duration;
  const [start, end] = [tokens[from]!.start, Math.max(tokens[from]!.end, tokens[to - 1]!.end)];
  return {
    start: Math.max(0, Math.round(start - Math.min(COMMON.edge, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(duration, end + Math.min(COMMON.edge, Math.max(0, after - end) / 2))),
  };
}

/** Returns the indices of the transcript's words to which the tokens `[at, at + count)` belong. */
export const findWordIndices = (tokens: readonly Token[], at: number, count: number): number[] => [
  ...new Set(tokens.slice(at, at + count).map((token) => token.word)),
];

/** Returns the transcript's text of the tokens `[at, at + count)`. */
export function joinTokenTexts(words: readonly Word[], tokens: readonly Token[], at: number, count: number): string {
  return findWordIndices(tokens, at, count)
    .map((index) => words[index]!.text)
    .filter((text) => text !== "")
    .join(" ");
}

const isNear = (tokens: readonly Token[], from: number, retakeStart: number) =>
  retakeStart - from <= COMMON.maxComparedWords &&
  tokens[retakeStart]!.start - tokens[from]!.start <= RETAKES.maxDistance;

/** Returns whether a phrase is about as long as a stretch of unrecognized speech, which may be the same phrase. */
function isAboutAsLong(tokens: readonly Token[], from: number, end: number, retakeStart: number): boolean {
  const phrase = tokens[end - 1]!.end - tokens[from]!.start;
  const stretch = tokens[retakeStart]!.end - tokens[retakeStart]!.start;
  return isAtAnyPace(phrase, stretch);
}

/** Returns whether the retake follows a short take after a pause. */
function isClose(tokens: readonly Token[], from: number, retakeStart: number): boolean {
  const pause = tokens[retakeStart]!.start - tokens[retakeStart - 1]!.end;
  return (
    retakeStart - from <= COMMON.manyWords &&
    pause >= COMMON.minPause &&
    tokens[retakeStart]!.start - tokens[from]!.start <= RETAKES.maxClose
  );
}

/** Returns whether the second phrase continues the first: "We will knock, and we will knock again". */
function addsConjunction(tokens: readonly Token[], from: number, retakeStart: number, lexicon: Lexicon): boolean {
  const conjunction = tokens[retakeStart]!.normal;
  const first = tokens[from]!.normal;
  return lexicon.conjunctions.has(conjunction) && first !== conjunction && tokens[retakeStart + 1]?.normal === first;
}

function findPhraseEnd(words: readonly Word[], tokens: readonly Token[], from: number, retakeStart: number): number {
  for (let end = from + 1; end < retakeStart; end++) {
    const pause = tokens[end]!.start - tokens[end - 1]!.end;
    const isClosed = endsSentence(words[tokens[end - 1]!.word]!.text);
    if (pause >= 2 * ACTIVITY.minRestartPause || (pause >= ACTIVITY.minRestartPause && isClosed)) return end;
  }
  return Math.max(from + 1, retakeStart);
}

/** Returns how many tokens from `at` on form the text to align: the sentence, or enough of it to identify it. */
function countTextTokens(words: readonly Word[], tokens: readonly Token[], at: number): number {
  let count = 1;
  while (count < COMMON.sentenceWords && at + count < tokens.length) {
    const pause = tokens[at + count]!.start - tokens[at + count - 1]!.end;
    const isClosed = endsSentence(words[tokens[at + count - 1]!.word]!.text);
    if (pause > COMMON.longPause || (isClosed && (count >= COMMON.minSureMatchWords || pause >= COMMON.minPause)))
      break;
    count++;
  }
  return count;
}

/** Returns whether the first words are alike: a long word, two or three of the first four, or a close short word. */
function startsAlike(tokens: readonly Token[], a: number, b: number): boolean {
  const distance = (i: number, k: number) => measureWordDistance(tokens[i]!.normal, tokens[k]!.normal);
  const isLongWord = (i: number) => tokens[i]!.normal.length >= COMMON.longWordCharacters;
  let shared = 0;
  let hasLongWord = false;
  for (let i = 0; i < COMMON.minSureMatchWords && a + i < b; i++) {
    for (let k = Math.max(0, i - 1); k <= i + 1 && b + k < tokens.length; k++) {
      if (distance(a + i, b + k) > RETAKES.maxSimilarWordDistance) continue;
      shared++;
      hasLongWord ||= isLongWord(a + i);
      break;
    }
  }
  const isSame = distance(a, b) <= RETAKES.maxSameWordDistance;
  if (isLongWord(a) && distance(a, b) <= RETAKES.maxSimilarWordDistance) return true;
  return (
    shared > COMMON.maxSlipWords ||
    (shared >= 2 && (hasLongWord || isSame)) ||
    (isSame && b - a <= COMMON.minSureMatchWords)
  );
}
