/** Which beginnings of phrases are worth holding against each other. */

import type { Word } from "../../speech";
import { rememberingDistance } from "../../text/normal";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { BREAK, beginnings, endsSentence, type HeardWord, UNHEARD } from "../tokens";

/**
 * The attempt at `from` and the take at `again`. The attempt may reach to `until`; its first phrase ends at `end`. The first `count`
 * words of the take are enough to know it. All index the heard words.
 */
export type EchoPair = { from: number; again: number; until: number; end: number; count: number };

const LONGEST_BACK = fromSeconds(30);
const LONGEST_BACK_WORDS = 60;
const LONGEST_TEXT = 14;
/** So many earlier beginnings are held against each later one. */
const MOST_TRIES = 4;
const PAD = fromSeconds(0.12);

/** The pairs to try, in order of the later beginning. */
export function pairsToTry(words: readonly Word[], heard: readonly HeardWord[]): EchoPair[] {
  const near = rememberingDistance();
  const starts = beginnings(words, heard);
  return starts.flatMap((again, n) => {
    const count = textLength(words, heard, again);
    const length = heard[again + count - 1]!.end - heard[again]!.start;
    const worth = (from: number) =>
      heard[again]!.normal === UNHEARD
        ? isAsLong(heard, from, phraseEnd(words, heard, from, again), again)
        : !addsConjunction(heard, from, again) && (alike(heard, from, again, near) || isClose(heard, from, again));
    return starts
      .slice(Math.max(0, n - LONGEST_BACK_WORDS), n)
      .filter((from) => withinReach(heard, from, again) && worth(from))
      .slice(-MOST_TRIES)
      .map((from) => {
        let until = from + 1;
        while (until < again && heard[until]!.end - heard[from]!.start <= length * 1.4 + fromSeconds(0.6)) until++;
        return { from, again, until, end: phraseEnd(words, heard, from, again), count };
      });
  });
}

/** The stretch of sound of the heard words `[from, to)`, with some of the quiet around it. */
export function windowAround(heard: readonly HeardWord[], from: number, to: number, duration: Ticks): Span {
  const before = heard[from - 1]?.end ?? 0;
  const after = heard[to]?.start ?? duration;
  const [start, end] = [heard[from]!.start, Math.max(heard[from]!.end, heard[to - 1]!.end)];
  return {
    start: Math.max(0, Math.round(start - Math.min(PAD, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(duration, end + Math.min(PAD, Math.max(0, after - end) / 2))),
  };
}

/** The indices of the transcript's words that the heard words `[at, at + count)` belong to. */
export const wordsFrom = (heard: readonly HeardWord[], at: number, count: number): number[] => [
  ...new Set(heard.slice(at, at + count).map((word) => word.word)),
];

/** What the heard words `[at, at + count)` were transcribed as. */
export function textFrom(words: readonly Word[], heard: readonly HeardWord[], at: number, count: number): string {
  return wordsFrom(heard, at, count)
    .map((index) => words[index]!.text)
    .filter((text) => text !== "")
    .join(" ");
}

const withinReach = (heard: readonly HeardWord[], from: number, again: number) =>
  again - from <= LONGEST_BACK_WORDS && heard[again]!.start - heard[from]!.start <= LONGEST_BACK;

/** A phrase about as long as a stretch that was not understood, which may be the same once more. */
function isAsLong(heard: readonly HeardWord[], from: number, end: number, again: number): boolean {
  const phrase = heard[end - 1]!.end - heard[from]!.start;
  const stretch = heard[again]!.end - heard[again]!.start;
  return phrase >= 0.6 * stretch && phrase <= 1.5 * stretch;
}

/** A short attempt right before a pause: broken off, it may be spelled as anything. */
function isClose(heard: readonly HeardWord[], from: number, again: number): boolean {
  const pause = heard[again]!.start - heard[again - 1]!.end;
  return (
    again - from <= 7 && pause >= fromSeconds(0.25) && heard[again]!.start - heard[from]!.start <= fromSeconds(3.5)
  );
}

const CONJUNCTIONS = new Set(["and", "but", "or", "so", "then", "nor"]);

/** "We will knock, and we will knock again": the second goes on from the first. */
function addsConjunction(heard: readonly HeardWord[], from: number, again: number): boolean {
  const joins = heard[again]!.normal;
  return CONJUNCTIONS.has(joins) && heard[from]!.normal !== joins && heard[again + 1]?.normal === heard[from]!.normal;
}

function phraseEnd(words: readonly Word[], heard: readonly HeardWord[], from: number, again: number): number {
  let end = from + 1;
  while (end < again) {
    const pause = heard[end]!.start - heard[end - 1]!.end;
    if (pause >= 2 * BREAK || (pause >= BREAK && endsSentence(words[heard[end - 1]!.word]!.text))) break;
    end++;
  }
  return end;
}

/** How many words from `at` on make the text to try: the sentence, or as much as is needed to know it. */
function textLength(words: readonly Word[], heard: readonly HeardWord[], at: number): number {
  let count = 1;
  while (count < LONGEST_TEXT && at + count < heard.length) {
    const pause = heard[at + count]!.start - heard[at + count - 1]!.end;
    const closed = endsSentence(words[heard[at + count - 1]!.word]!.text);
    if (pause > fromSeconds(1) || (closed && (count >= 4 || pause >= fromSeconds(0.25)))) break;
    count++;
  }
  return count;
}

/** Worth a try: the same first word, unless it is a small one and nothing after it is alike, or two of the first words. */
function alike(heard: readonly HeardWord[], a: number, b: number, near: (x: string, y: string) => number): boolean {
  let shared = 0;
  let long = false;
  for (let i = 0; i < 4 && a + i < b; i++) {
    for (let k = Math.max(0, i - 1); k <= i + 1 && b + k < heard.length; k++) {
      if (near(heard[a + i]!.normal, heard[b + k]!.normal) > 0.6) continue;
      shared++;
      long ||= heard[a + i]!.normal.length >= 4;
      break;
    }
  }
  const same = near(heard[a]!.normal, heard[b]!.normal) <= 0.3;
  const first = heard[a]!.normal.length >= 4 && near(heard[a]!.normal, heard[b]!.normal) <= 0.6;
  return first || shared >= 3 || (shared >= 2 && (long || same)) || (same && b - a <= 4);
}
