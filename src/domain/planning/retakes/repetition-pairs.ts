/** Which beginnings of phrases are worth holding against each other. */

import type { Word } from "../../speech";
import { createDistanceCache } from "../../text/normal";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { endsSentence, findPhraseStarts, MIN_RESTART_PAUSE, type Token, UNRECOGNIZED } from "../tokens";

/**
 * The attempt at `from` and the take at `again`. The attempt may reach to `until`; its first phrase ends at `end`. The first `count`
 * words of the take are enough to know it. All index the heard words.
 */
export type RepetitionPair = { from: number; retakeStart: number; until: number; end: number; count: number };

const LONGEST_BACK = fromSeconds(30);
const LONGEST_BACK_WORDS = 60;
const LONGEST_TEXT = 14;
/** So many earlier beginnings are held against each later one. */
const MOST_TRIES = 4;
const PAD = fromSeconds(0.12);

/** The pairs to try, in order of the later beginning. */
export function listRepetitionPairs(words: readonly Word[], tokens: readonly Token[]): RepetitionPair[] {
  const distanceBetween = createDistanceCache();
  const starts = findPhraseStarts(words, tokens);
  return starts.flatMap((retakeStart, n) => {
    const count = textLength(words, tokens, retakeStart);
    const length = tokens[retakeStart + count - 1]!.end - tokens[retakeStart]!.start;
    const worth = (from: number) =>
      tokens[retakeStart]!.normal === UNRECOGNIZED
        ? isAsLong(tokens, from, phraseEnd(words, tokens, from, retakeStart), retakeStart)
        : !addsConjunction(tokens, from, retakeStart) &&
          (alike(tokens, from, retakeStart, distanceBetween) || isClose(tokens, from, retakeStart));
    return starts
      .slice(Math.max(0, n - LONGEST_BACK_WORDS), n)
      .filter((from) => withinReach(tokens, from, retakeStart) && worth(from))
      .slice(-MOST_TRIES)
      .map((from) => {
        let until = from + 1;
        while (until < retakeStart && tokens[until]!.end - tokens[from]!.start <= length * 1.4 + fromSeconds(0.6))
          until++;
        return { from, retakeStart, until, end: phraseEnd(words, tokens, from, retakeStart), count };
      });
  });
}

/** The stretch of sound of the heard words `[from, to)`, with some of the quiet around it. */
export function windowAround(tokens: readonly Token[], from: number, to: number, duration: Ticks): Span {
  const before = tokens[from - 1]?.end ?? 0;
  const after = tokens[to]?.start ?? duration;
  const [start, end] = [tokens[from]!.start, Math.max(tokens[from]!.end, tokens[to - 1]!.end)];
  return {
    start: Math.max(0, Math.round(start - Math.min(PAD, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(duration, end + Math.min(PAD, Math.max(0, after - end) / 2))),
  };
}

/** The indices of the transcript's words that the heard words `[at, at + count)` belong to. */
export const wordsFrom = (tokens: readonly Token[], at: number, count: number): number[] => [
  ...new Set(tokens.slice(at, at + count).map((word) => word.word)),
];

/** What the heard words `[at, at + count)` were transcribed as. */
export function textFrom(words: readonly Word[], tokens: readonly Token[], at: number, count: number): string {
  return wordsFrom(tokens, at, count)
    .map((index) => words[index]!.text)
    .filter((text) => text !== "")
    .join(" ");
}

const withinReach = (tokens: readonly Token[], from: number, retakeStart: number) =>
  retakeStart - from <= LONGEST_BACK_WORDS && tokens[retakeStart]!.start - tokens[from]!.start <= LONGEST_BACK;

/** A phrase about as long as a stretch that was not understood, which may be the same once more. */
function isAsLong(tokens: readonly Token[], from: number, end: number, retakeStart: number): boolean {
  const phrase = tokens[end - 1]!.end - tokens[from]!.start;
  const stretch = tokens[retakeStart]!.end - tokens[retakeStart]!.start;
  return phrase >= 0.6 * stretch && phrase <= 1.5 * stretch;
}

/** A short attempt right before a pause: broken off, it may be spelled as anything. */
function isClose(tokens: readonly Token[], from: number, retakeStart: number): boolean {
  const pause = tokens[retakeStart]!.start - tokens[retakeStart - 1]!.end;
  return (
    retakeStart - from <= 7 &&
    pause >= fromSeconds(0.25) &&
    tokens[retakeStart]!.start - tokens[from]!.start <= fromSeconds(3.5)
  );
}

const CONJUNCTIONS = new Set(["and", "but", "or", "so", "then", "nor"]);

/** "We will knock, and we will knock again": the second goes on from the first. */
function addsConjunction(tokens: readonly Token[], from: number, retakeStart: number): boolean {
  const joins = tokens[retakeStart]!.normal;
  return (
    CONJUNCTIONS.has(joins) &&
    tokens[from]!.normal !== joins &&
    tokens[retakeStart + 1]?.normal === tokens[from]!.normal
  );
}

function phraseEnd(words: readonly Word[], tokens: readonly Token[], from: number, retakeStart: number): number {
  let end = from + 1;
  while (end < retakeStart) {
    const pause = tokens[end]!.start - tokens[end - 1]!.end;
    if (
      pause >= 2 * MIN_RESTART_PAUSE ||
      (pause >= MIN_RESTART_PAUSE && endsSentence(words[tokens[end - 1]!.word]!.text))
    )
      break;
    end++;
  }
  return end;
}

/** How many words from `at` on make the text to try: the sentence, or as much as is needed to know it. */
function textLength(words: readonly Word[], tokens: readonly Token[], at: number): number {
  let count = 1;
  while (count < LONGEST_TEXT && at + count < tokens.length) {
    const pause = tokens[at + count]!.start - tokens[at + count - 1]!.end;
    const closed = endsSentence(words[tokens[at + count - 1]!.word]!.text);
    if (pause > fromSeconds(1) || (closed && (count >= 4 || pause >= fromSeconds(0.25)))) break;
    count++;
  }
  return count;
}

/** Worth a try: the same first word, unless it is a small one and nothing after it is alike, or two of the first words. */
function alike(
  tokens: readonly Token[],
  a: number,
  b: number,
  distanceBetween: (x: string, y: string) => number,
): boolean {
  let shared = 0;
  let long = false;
  for (let i = 0; i < 4 && a + i < b; i++) {
    for (let k = Math.max(0, i - 1); k <= i + 1 && b + k < tokens.length; k++) {
      if (distanceBetween(tokens[a + i]!.normal, tokens[b + k]!.normal) > 0.6) continue;
      shared++;
      long ||= tokens[a + i]!.normal.length >= 4;
      break;
    }
  }
  const same = distanceBetween(tokens[a]!.normal, tokens[b]!.normal) <= 0.3;
  const first = tokens[a]!.normal.length >= 4 && distanceBetween(tokens[a]!.normal, tokens[b]!.normal) <= 0.6;
  return first || shared >= 3 || (shared >= 2 && (long || same)) || (same && b - a <= 4);
}
