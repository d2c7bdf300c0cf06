/**
 * Is what was said here said again there? Two takes of one sentence can be misheard in different ways, so the later take's words are
 * held against the sound of the earlier one: as far as they were spoken there they fit, and from the first that was not they do not.
 */
import { beginnings, type HeardWord } from "./cut-heard";
import type { PlanSteps } from "./cut-unscripted";
import { usable } from "./script-alignment";
import type { ForceRequest, Word } from "./speech";
import { rememberingDistance } from "./text-normal";
import { fromSeconds, type Ticks } from "./time";

/** The first `spoken` words from `again` on were also spoken in `[from, end)`, and nothing else was. */
export type Echo = { from: number; again: number; end: number; spoken: number };

const LONGEST_BACK = fromSeconds(30);
const LONGEST_BACK_WORDS = 60;
const LONGEST_TEXT = 14;
/** So many earlier beginnings are held against each later one. */
const MOST_TRIES = 4;
/** A word that was spoken fits better than this, one that was not worse. */
const SPOKEN = -3;
/** The first word must be there: a recogniser told the middle of a text finds it, wherever it is. */
const FIRST_WORD = -5.5;
const PAD = fromSeconds(0.12);

/** Finds the echoes between beginnings of phrases that sound at all alike by their spelling. */
export function* hearEchoes(words: readonly Word[], heard: readonly HeardWord[], duration: Ticks): PlanSteps<Echo[]> {
  const near = rememberingDistance();
  const starts = beginnings(words, heard);
  const asked: { from: number; again: number; until: number; count: number; request: ForceRequest }[] = [];
  for (const again of starts) {
    const count = textLength(words, heard, again);
    const length = heard[again + count - 1]!.end - heard[again]!.start;
    const tries = starts.filter(
      (from) =>
        from < again &&
        again - from <= LONGEST_BACK_WORDS &&
        heard[again]!.start - heard[from]!.start <= LONGEST_BACK &&
        alike(heard, from, again, near),
    );
    for (const from of tries.slice(-MOST_TRIES)) {
      let until = from + 1;
      while (until < again && heard[until]!.end - heard[from]!.start <= length * 1.4 + fromSeconds(0.6)) until++;
      const next = heard[until]?.start ?? duration;
      const end = heard[until - 1]!.end;
      const before = heard[from - 1]?.end ?? 0;
      const start = heard[from]!.start;
      const window = {
        start: Math.round(start - Math.min(PAD, Math.max(0, start - before) / 2)),
        end: Math.round(Math.min(duration, end + Math.min(PAD, Math.max(0, next - end) / 2))),
      };
      const text = textFrom(words, heard, again, count);
      if (window.end > window.start && text !== "")
        asked.push({ from, again, until, count, request: { window, text } });
    }
  }
  const answers = yield asked.map((one) => one.request);
  return asked.flatMap(({ from, again, until, count }, i) => {
    const forced = answers[i];
    if (!usable(forced)) return [];
    if (forced.words[0]!.logProb < FIRST_WORD) return [];
    const share = spokenPrefix(forced.words.map((word) => word.logProb)) / forced.words.length;
    const spoken = Math.round(share * count);
    const end = spoken === 0 ? null : attemptEnd(heard, from, until, again, spoken);
    return end === null ? [] : [{ from, again, end, spoken }];
  });
}

/** How many words from `at` on make the text to try: the sentence, or as much as is needed to know it. */
function textLength(words: readonly Word[], heard: readonly HeardWord[], at: number): number {
  let count = 1;
  while (count < LONGEST_TEXT && at + count < heard.length) {
    const pause = heard[at + count]!.start - heard[at + count - 1]!.end;
    if (pause > fromSeconds(1) || (count >= 4 && /[.!?]$/.test(words[heard[at + count - 1]!.word]!.text))) break;
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

/** Where the earlier attempt ends: at the pause that gives it about the length that the same words have later. Null when none does. */
function attemptEnd(
  heard: readonly HeardWord[],
  from: number,
  until: number,
  again: number,
  spoken: number,
): number | null {
  const later = heard[again + spoken - 1]!.end - heard[again]!.start;
  const next = heard[again + spoken];
  const slack = fromSeconds(0.12) + (next ? Math.min(fromSeconds(0.6), 0.7 * (next.end - next.start)) : 0);
  let best: number | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (let end = from + 1; end <= until; end++) {
    const pause = (heard[end]?.start ?? Number.POSITIVE_INFINITY) - heard[end - 1]!.end;
    if (end !== again && pause < fromSeconds(0.12)) continue;
    const length = heard[end - 1]!.end - heard[from]!.start;
    const off = Math.abs(length - later);
    if (length < 0.6 * later - fromSeconds(0.15) || length > 1.3 * later + slack || off >= smallest) continue;
    smallest = off;
    best = end;
  }
  return best;
}
