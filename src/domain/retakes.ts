/**
 * Retakes found without a script: somebody begins, stops, and begins again. What was said first then matches the beginning of what is
 * said next. Sentences that only begin alike stay.
 */
import type { Echo } from "./cut-echoes";
import { BREAK, beginnings, endsSentence, type HeardWord, pauseBefore } from "./cut-heard";
import type { Word } from "./speech";
import { rememberingDistance } from "./text-normal";
import { fromSeconds } from "./time";

/** Words `[from, to)` of the transcript that were said again from word `again` on. `remark`: talk between two takes. */
export type Retake = { from: number; to: number; again: number; kind: "retake" | "remark" };
/** Words `[from, to)` that look like a retake, but not surely. */
export type Doubt = { from: number; to: number; review: string };
export type Retakes = { retakes: Retake[]; doubts: Doubt[] };

const LONGEST_BACK = fromSeconds(45);
const LONGEST_BACK_WORDS = 130;
/** Share of an attempt's words that may differ from the words of the later take. */
const TOLERATED = 0.24;
/** A recogniser is less sure than this of a word that was broken off. */
const UNSURE = 0.6;
const LONGEST_REMARK_WORDS = 12;
/** Longer talk between two takes is kept for an editor to see, whatever it says. */
const LONGEST_DROPPED_REMARK = 9;
const LONGEST_REMARK = fromSeconds(8);

const CUES =
  /\b(?:sorry|again|wait|oops|whoops|hold on|one (?:more|second|sec|moment)|let me|start over|start again|take (?:two|three|four|five|\d)|from the top|redo|restart|scratch that|cut that|wrong|mistake|messed up|my bad|no no|what was|where was|okay|ok|excuse me|pardon|damn|shit|fuck|ugh|argh|try that|do that|is this|recording|not good|i mean)\b/;

/** Words that nobody says twice for emphasis. */
const STUTTERED = new Set(
  "a an the i we he she it they you my your our his her its their this these those and but or if of to in on at for from with by as is are was were be been so when where while what which who how can could will would should must do does did has have had not because then there let im were".split(
    " ",
  ),
);

type Match = { end: number; matched: number; cost: number };

/** Finds the retakes in a transcript's words (sorted). `echoes`: what the sound said about attempts whose spelling does not match. */
export function findRetakes(
  words: readonly Word[],
  heard: readonly HeardWord[],
  echoes: readonly Echo[] = [],
): Retakes {
  const near = rememberingDistance();
  const byPlace = new Map(echoes.map((echo) => [`${echo.from}-${echo.again}`, echo]));
  const gone = new Uint8Array(heard.length);
  const retakes: Retake[] = [];
  const doubts: Doubt[] = [];
  const starts = heard.map(() => false);
  for (const i of beginnings(words, heard)) starts[i] = true;
  for (let again = 1; again < heard.length; again++) {
    const repeats = heard[again - 1]!.normal === heard[again]!.normal || repeatsPair(heard, again);
    if (!starts[again] && !repeats) continue;
    for (let from = again - 1; from >= 0 && withinReach(heard, from, again); from--) {
      if (gone[from]) continue;
      const { match, verdict } = firstVerdict(
        [prefixMatch(heard, from, again, near), echoed(byPlace.get(`${from}-${again}`), heard, words)],
        (found) => judge(words, heard, gone, starts, from, again, found, near),
      );
      if (!match) continue;
      const [first, stop] = [heard[from]!.word, heard[match.end - 1]!.word + 1];
      if (verdict === "doubt") {
        doubts.push({ from: first, to: stop, review: "resembles what is said next" });
        continue;
      }
      gone.fill(1, from, verdict.to);
      retakes.push({ from: first, to: heard[verdict.to - 1]!.word + 1, again: heard[again]!.word, kind: "retake" });
      if (verdict.remark && verdict.to < again) {
        gone.fill(1, verdict.to, again);
        retakes.push({
          from: heard[verdict.to]!.word,
          to: heard[again - 1]!.word + 1,
          again: heard[again]!.word,
          kind: "remark",
        });
      }
    }
  }
  return { retakes, doubts };
}

/** The first match that is not of different sentences; a doubt only when no other match is sure. */
function firstVerdict(
  matches: readonly (Match | null)[],
  judgeOf: (match: Match) => Judgement,
): { match: Match; verdict: Exclude<Judgement, "different"> } | { match: null; verdict: "different" } {
  let doubt: Match | null = null;
  for (const match of matches) {
    const verdict = match ? judgeOf(match) : "different";
    if (match && verdict === "doubt") doubt ??= match;
    else if (match && verdict !== "different") return { match, verdict };
  }
  return doubt ? { match: doubt, verdict: "doubt" } : { match: null, verdict: "different" };
}

/** What an echo says as a match. What was said beyond the words that fit must be a fragment: else it is another sentence. */
function echoed(echo: Echo | undefined, heard: readonly HeardWord[], words: readonly Word[]): Match | null {
  if (!echo || echo.spoken < 2) return null;
  const left = echo.end - echo.from - echo.spoken;
  if (left > 0 && left > 0.25 * echo.spoken) {
    const last = words[heard[echo.end - 1]!.word]!;
    if (left > 2 || last.confidence >= UNSURE) return null;
  }
  return { end: echo.end, matched: echo.spoken, cost: 0.1 * echo.spoken };
}

const repeatsPair = (heard: readonly HeardWord[], i: number) =>
  i >= 2 && heard[i - 2]!.normal === heard[i]!.normal && heard[i - 1]!.normal === heard[i + 1]?.normal;

const withinReach = (heard: readonly HeardWord[], from: number, again: number) =>
  again - from <= LONGEST_BACK_WORDS && heard[again]!.start - heard[from]!.start <= LONGEST_BACK;

/** The longest beginning of `[from, again)` that matches a beginning of what follows `again`. */
function prefixMatch(
  heard: readonly HeardWord[],
  from: number,
  again: number,
  near: (a: string, b: string) => number,
): Match | null {
  if (near(heard[from]!.normal, heard[again]!.normal) > 0.6) return null;
  const rows = again - from;
  const columns = Math.min(heard.length - again, rows + 6);
  let previous = Array.from({ length: columns + 1 }, (_, j) => j);
  let best: Match | null = null;
  for (let i = 1; i <= rows; i++) {
    const word = heard[from + i - 1]!.normal;
    const row = [i];
    let lowest = i;
    let at = 0;
    let lastMatches = false;
    for (let j = 1; j <= columns; j++) {
      const distance = near(word, heard[again + j - 1]!.normal);
      const swap = previous[j - 1]! + distance;
      row.push(Math.min(swap, previous[j]! + 1, row[j - 1]! + 1));
      if (row[j]! >= lowest) continue;
      lowest = row[j]!;
      at = j;
      lastMatches = row[j] === swap && distance <= 0.6;
    }
    previous = row;
    if (lastMatches && lowest <= i * TOLERATED) best = { end: from + i, matched: at, cost: lowest };
    // However well it goes on: what begins otherwise is not the same.
    if (lowest > 0.75 + 0.3 * i) break;
  }
  return best;
}

type Judgement = "different" | "doubt" | { to: number; remark: boolean };

function judge(
  words: readonly Word[],
  heard: readonly HeardWord[],
  gone: Uint8Array,
  starts: readonly boolean[],
  from: number,
  again: number,
  match: Match,
  near: (a: string, b: string) => number,
): Judgement {
  const size = match.end - from;
  const pause = pauseBefore(heard, again);
  const between = untouched(gone, match.end, again);
  const exact = match.cost < 0.01;
  const continues = !endsSentence(words[heard[again + match.matched - 1]!.word]!.text);
  if (between.length === 0) {
    if (size === 1)
      return singleWord(words, heard, starts, from, again, exact, continues)
        ? { to: again, remark: false }
        : "different";
    if (!starts[from]) return exact && (pause >= BREAK || size >= 3) ? { to: again, remark: false } : "different";
    if (size === 2)
      return match.cost <= 0.3 && (pause >= BREAK || continues) ? { to: again, remark: false } : "different";
    return { to: again, remark: false };
  }
  if (!starts[from]) return "different";
  const first = between[0]!;
  const attached = heard[first]!.start - heard[match.end - 1]!.end < fromSeconds(0.3);
  if (attached && between.length <= 2 && size >= 2 && pause >= BREAK) {
    return brokenOff(words, heard, match, between, again, size, near);
  }
  const remark = between.map((i) => heard[i]!.normal).join(" ");
  const seconds = heard[again - 1]!.end - heard[first]!.start;
  if (between.length > LONGEST_REMARK_WORDS || seconds > LONGEST_REMARK || size < 3) return "different";
  const apart = heard[first]!.start - heard[match.end - 1]!.end >= BREAK && pause >= BREAK;
  if (CUES.test(remark) && apart && between.length <= LONGEST_DROPPED_REMARK) return { to: match.end, remark: true };
  return apart && size >= 4 && match.cost <= 0.15 * size ? { to: match.end, remark: false } : "different";
}

function untouched(gone: Uint8Array, from: number, to: number): number[] {
  const out: number[] = [];
  for (let i = from; i < to; i++) if (!gone[i]) out.push(i);
  return out;
}

/** One word said twice: a stutter when nobody would say it twice on purpose, or when it stands alone before the sentence that it begins. */
function singleWord(
  words: readonly Word[],
  heard: readonly HeardWord[],
  starts: readonly boolean[],
  from: number,
  again: number,
  exact: boolean,
  continues: boolean,
): boolean {
  if (!exact || again !== from + 1) return false;
  const pause = pauseBefore(heard, again);
  if (pause > fromSeconds(2.5) || endsSentence(words[heard[again]!.word]!.text)) return false;
  if (STUTTERED.has(heard[from]!.normal)) return true;
  const alone = starts[from] === true && pauseBefore(heard, from) >= fromSeconds(0.3) && pause >= fromSeconds(0.3);
  return alone && continues && heard[from]!.normal.length >= 5;
}

/**
 * An attempt whose last word or two do not match: broken off inside a word when the later sentence goes on past that place, or when the
 * piece resembles the beginning of the word; two sentences that differ only in their last word are both kept.
 */
function brokenOff(
  words: readonly Word[],
  heard: readonly HeardWord[],
  match: Match,
  between: readonly number[],
  again: number,
  size: number,
  near: (a: string, b: string) => number,
): Judgement {
  const at = again + match.matched;
  let more = 0;
  while (heard[at + more] && !(more > 0 && endsSentence(words[heard[at + more - 1]!.word]!.text)) && more < 8) more++;
  if (more === 0) return "different";
  const piece = heard[between[0]!]!.normal;
  const whole = heard[at]?.normal ?? "";
  const fragment =
    whole.startsWith(piece) || (piece.length >= 3 && whole.startsWith(piece.slice(0, 3))) || near(piece, whole) <= 0.3;
  const unsure = words[heard[between[0]!]!.word]!.confidence < 0.5;
  if (fragment && more >= between.length) return { to: again, remark: false };
  if (more > between.length + 1 && (size >= 3 || unsure)) return { to: again, remark: false };
  return size >= 3 ? "doubt" : "different";
}
