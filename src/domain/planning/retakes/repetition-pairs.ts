/** Stage 4, retakes: selects the phrase starts to compare by audio. */
import type { Word } from "../../speech";
import { createDistanceCache } from "../../text/normalize";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { endsSentence, findPhraseStarts, MIN_RESTART_PAUSE_TICKS, type Token, UNRECOGNIZED } from "../tokens";
import { MAX_SAME_WORD_DISTANCE, MAX_SIMILAR_WORD_DISTANCE } from "./repetition";

/**
 * The take at `from` and the retake at `retakeStart`. The take extends to `until` at most; its first phrase ends at
 * `end`. The first `count` tokens of the retake are enough to identify it. All are token indices.
 */
export type RepetitionPair = { from: number; retakeStart: number; until: number; end: number; count: number };

const MAX_DISTANCE_TICKS = fromSeconds(30);
const MAX_DISTANCE_WORDS = 60;
const MAX_TEXT_WORDS = 14;
/** Number of earlier phrase starts with which each one is compared. */
const MAX_TAKES_PER_RETAKE = 4;
const PADDING_TICKS = fromSeconds(0.12);
/** A take of at most this length right before a pause can be misrecognized as anything. */
const MAX_CLOSE_WORDS = 7;
const MAX_CLOSE_TICKS = fromSeconds(3.5);
const MIN_CLOSE_PAUSE_TICKS = fromSeconds(0.25);
/** A shared word with this many characters is more significant. */
const MIN_LONG_WORD_CHARACTERS = 4;

/** Returns the pairs to compare, in order of the retake. */
export function listRepetitionPairs(words: readonly Word[], tokens: readonly Token[]): RepetitionPair[] {
  const distanceBetween = createDistanceCache();
  const starts = findPhraseStarts(words, tokens);
  return starts.flatMap((retakeStart, n) => {
    const count = countTextTokens(words, tokens, retakeStart);
    const length = tokens[retakeStart + count - 1]!.end - tokens[retakeStart]!.start;
    const isWorthComparing = (from: number) => {
      if (tokens[retakeStart]!.normal === UNRECOGNIZED)
        return isAboutAsLong(tokens, from, findPhraseEnd(words, tokens, from, retakeStart), retakeStart);
      if (addsConjunction(tokens, from, retakeStart)) return false;
      return startsAlike(tokens, from, retakeStart, distanceBetween) || isClose(tokens, from, retakeStart);
    };
    return starts
      .slice(Math.max(0, n - MAX_DISTANCE_WORDS), n)
      .filter((from) => isNear(tokens, from, retakeStart) && isWorthComparing(from))
      .slice(-MAX_TAKES_PER_RETAKE)
      .map((from) => {
        const maxLength = length * 1.4 + fromSeconds(0.6);
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
    start: Math.max(0, Math.round(start - Math.min(PADDING_TICKS, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(duration, end + Math.min(PADDING_TICKS, Math.max(0, after - end) / 2))),
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
  retakeStart - from <= MAX_DISTANCE_WORDS && tokens[retakeStart]!.start - tokens[from]!.start <= MAX_DISTANCE_TICKS;

/** Returns whether a phrase is about as long as a stretch of unrecognized speech, which may be the same phrase. */
function isAboutAsLong(tokens: readonly Token[], from: number, end: number, retakeStart: number): boolean {
  const phrase = tokens[end - 1]!.end - tokens[from]!.start;
  const stretch = tokens[retakeStart]!.end - tokens[retakeStart]!.start;
  return phrase >= 0.6 * stretch && phrase <= 1.5 * stretch;
}

/** Returns whether the retake follows a short take after a pause. */
function isClose(tokens: readonly Token[], from: number, retakeStart: number): boolean {
  const pause = tokens[retakeStart]!.start - tokens[retakeStart - 1]!.end;
  return (
    retakeStart - from <= MAX_CLOSE_WORDS &&
    pause >= MIN_CLOSE_PAUSE_TICKS &&
    tokens[retakeStart]!.start - tokens[from]!.start <= MAX_CLOSE_TICKS
  );
}

const CONJUNCTIONS = new Set(["and", "but", "or", "so", "then", "nor"]);

/** Returns whether the second phrase continues the first: "We will knock, and we will knock again". */
function addsConjunction(tokens: readonly Token[], from: number, retakeStart: number): boolean {
  const conjunction = tokens[retakeStart]!.normal;
  const first = tokens[from]!.normal;
  return CONJUNCTIONS.has(conjunction) && first !== conjunction && tokens[retakeStart + 1]?.normal === first;
}

function findPhraseEnd(words: readonly Word[], tokens: readonly Token[], from: number, retakeStart: number): number {
  for (let end = from + 1; end < retakeStart; end++) {
    const pause = tokens[end]!.start - tokens[end - 1]!.end;
    const isClosed = endsSentence(words[tokens[end - 1]!.word]!.text);
    if (pause >= 2 * MIN_RESTART_PAUSE_TICKS || (pause >= MIN_RESTART_PAUSE_TICKS && isClosed)) return end;
  }
  return Math.max(from + 1, retakeStart);
}

/** Returns how many tokens from `at` on form the text to align: the sentence, or enough of it to identify it. */
function countTextTokens(words: readonly Word[], tokens: readonly Token[], at: number): number {
  let count = 1;
  while (count < MAX_TEXT_WORDS && at + count < tokens.length) {
    const pause = tokens[at + count]!.start - tokens[at + count - 1]!.end;
    const isClosed = endsSentence(words[tokens[at + count - 1]!.word]!.text);
    if (pause > fromSeconds(1) || (isClosed && (count >= 4 || pause >= fromSeconds(0.25)))) break;
    count++;
  }
  return count;
}

/** Returns whether the first words are alike: a long word, two or three of the first four, or a close short word. */
function startsAlike(
  tokens: readonly Token[],
  a: number,
  b: number,
  distanceBetween: (x: string, y: string) => number,
): boolean {
  const distance = (i: number, k: number) => distanceBetween(tokens[i]!.normal, tokens[k]!.normal);
  const isLongWord = (i: number) => tokens[i]!.normal.length >= MIN_LONG_WORD_CHARACTERS;
  let shared = 0;
  let hasLongWord = false;
  for (let i = 0; i < 4 && a + i < b; i++) {
    for (let k = Math.max(0, i - 1); k <= i + 1 && b + k < tokens.length; k++) {
      if (distance(a + i, b + k) > MAX_SIMILAR_WORD_DISTANCE) continue;
      shared++;
      hasLongWord ||= isLongWord(a + i);
      break;
    }
  }
  const isSame = distance(a, b) <= MAX_SAME_WORD_DISTANCE;
  if (isLongWord(a) && distance(a, b) <= MAX_SIMILAR_WORD_DISTANCE) return true;
  return shared >= 3 || (shared >= 2 && (hasLongWord || isSame)) || (isSame && b - a <= 4);
}
