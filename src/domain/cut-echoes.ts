/**
 * Is what was said here said again there? Two takes of one sentence can be misheard in different ways, so the later take's words are
 * held against the sound of the earlier one: as far as they were spoken there they fit, and from the first that was not they do not.
 */
import { beginnings, endsSentence, type HeardWord } from "./cut-heard";
import type { PlanSteps } from "./cut-unscripted";
import { usable } from "./script-alignment";
import type { Forced, Word } from "./speech";
import { rememberingDistance } from "./text-normal";
import { fromSeconds, type Span, type Ticks } from "./time";

/** The first `spoken` words from `again` on were also spoken in `[from, end)`, and nothing else was. */
export type Echo = { from: number; again: number; end: number; spoken: number };

const LONGEST_BACK = fromSeconds(30);
const LONGEST_BACK_WORDS = 60;
const LONGEST_TEXT = 14;
/** So many earlier beginnings are held against each later one. */
const MOST_TRIES = 4;
/** A word that was spoken fits better than this, one that was not worse. */
const SPOKEN = -3;
/** A word of an earlier attempt may come so much later than in the later one. */
const SLOWER = 1.6;
const LATE = fromSeconds(0.35);
const PAD = fromSeconds(0.12);

type Pair = { from: number; again: number; until: number; count: number };

/** Finds the echoes between beginnings of phrases that sound at all alike by their spelling, or that follow each other closely. */
export function* hearEchoes(words: readonly Word[], heard: readonly HeardWord[], duration: Ticks): PlanSteps<Echo[]> {
  const pairs = pairsOf(words, heard);
  const asked = pairs.flatMap((pair) => {
    const request = {
      window: windowAround(heard, pair.from, pair.until, duration),
      text: textFrom(words, heard, pair.again, pair.count),
    };
    return request.window.end > request.window.start && request.text !== "" ? [{ pair, request }] : [];
  });
  const answers = yield asked.map((one) => one.request);
  return asked.flatMap(({ pair }, i) => {
    const forced = answers[i];
    const echo = usable(forced) ? echoOf(pair, forced, heard) : null;
    return echo ? [echo] : [];
  });
}

function pairsOf(words: readonly Word[], heard: readonly HeardWord[]): Pair[] {
  const near = rememberingDistance();
  const starts = beginnings(words, heard);
  return starts.flatMap((again, n) => {
    const count = textLength(words, heard, again);
    const length = heard[again + count - 1]!.end - heard[again]!.start;
    return starts
      .slice(Math.max(0, n - LONGEST_BACK_WORDS), n)
      .filter(
        (from) => withinReach(heard, from, again) && (alike(heard, from, again, near) || close(heard, from, again)),
      )
      .slice(-MOST_TRIES)
      .map((from) => {
        let until = from + 1;
        while (until < again && heard[until]!.end - heard[from]!.start <= length * 1.4 + fromSeconds(0.6)) until++;
        return { from, again, until, count };
      });
  });
}

const withinReach = (heard: readonly HeardWord[], from: number, again: number) =>
  again - from <= LONGEST_BACK_WORDS && heard[again]!.start - heard[from]!.start <= LONGEST_BACK;

/** A short attempt right before a pause: broken off, it may be spelled as anything. */
function close(heard: readonly HeardWord[], from: number, again: number): boolean {
  const pause = heard[again]!.start - heard[again - 1]!.end;
  return (
    again - from <= 7 && pause >= fromSeconds(0.25) && heard[again]!.start - heard[from]!.start <= fromSeconds(3.5)
  );
}

function windowAround(heard: readonly HeardWord[], from: number, to: number, duration: Ticks): Span {
  const before = heard[from - 1]?.end ?? 0;
  const after = heard[to]?.start ?? duration;
  const [start, end] = [heard[from]!.start, heard[to - 1]!.end];
  return {
    start: Math.round(start - Math.min(PAD, Math.max(0, start - before) / 2)),
    end: Math.round(Math.min(duration, end + Math.min(PAD, Math.max(0, after - end) / 2))),
  };
}

/**
 * What the forced words say. A recogniser that is told the middle of a text finds it, wherever it is, so the words must also lie where
 * they would if the attempt began with them.
 */
function echoOf({ from, again, until, count }: Pair, forced: Forced, heard: readonly HeardWord[]): Echo | null {
  const all = forced.words.length;
  const fitting = spokenPrefix(forced.words.map((word) => word.logProb));
  const spoken = Math.round((fitting / all) * count);
  if (spoken === 0 || !beginsWell(forced)) return null;
  const start = heard[from]!.start;
  const place = (k: number) => forced.words[k]!.start - start;
  const later = (k: number) => {
    const at = Math.min(count - 1, Math.round((k / all) * count));
    return heard[again + at]!.start - heard[again]!.start;
  };
  for (let k = 1; k < fitting; k++) if (place(k) > SLOWER * later(k) + LATE) return null;
  const end = attemptEnd(heard, from, until, again, spoken, forced.words[fitting - 1]!.end);
  return end === null ? null : { from, again, end, spoken };
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

function textFrom(words: readonly Word[], heard: readonly HeardWord[], at: number, count: number): string {
  const indices = new Set<number>();
  for (let k = at; k < at + count; k++) indices.add(heard[k]!.word);
  return [...indices].map((index) => words[index]!.text).join(" ");
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
  return (shared >= 2 && (long || same)) || (same && (long || b - a <= 4));
}

/** How many of the words, from the first on, were spoken: where the odds turn for good. */
export function spokenPrefix(logProbs: readonly number[]): number {
  let sum = 0;
  let best = 0;
  let count = 0;
  for (const [i, logProb] of logProbs.entries()) {
    sum += Math.max(logProb, -12) - SPOKEN;
    if (sum <= best) continue;
    best = sum;
    count = i + 1;
  }
  return count;
}

/** The first word fits, or else, misspelled in the later take, the second fits well. */
const beginsWell = ({ words: [first, second] }: Forced): boolean =>
  first !== undefined && (first.logProb >= -3.5 || (second !== undefined && second.logProb >= -1.5));

/** Where the earlier attempt ends: at the pause nearest to the last word that fits. Null when more was said than those words. */
function attemptEnd(
  heard: readonly HeardWord[],
  from: number,
  until: number,
  again: number,
  spoken: number,
  fitsUntil: Ticks,
): number | null {
  const start = heard[from]!.start;
  const later = heard[again + spoken - 1]!.end - heard[again]!.start;
  const next = heard[again + spoken];
  const slack = fromSeconds(0.12) + (next ? Math.min(fromSeconds(0.6), 0.7 * (next.end - next.start)) : 0);
  let best: number | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (let end = from + 1; end <= until; end++) {
    const pause = (heard[end]?.start ?? Number.POSITIVE_INFINITY) - heard[end - 1]!.end;
    if (end !== again && pause < fromSeconds(0.12)) continue;
    const length = heard[end - 1]!.end - start;
    const off = Math.abs(heard[end - 1]!.end - fitsUntil) + 0.5 * Math.abs(length - later);
    if (length < 0.6 * later - fromSeconds(0.15) || length > 1.3 * later + slack || off >= smallest) continue;
    smallest = off;
    best = end;
  }
  return best;
}
