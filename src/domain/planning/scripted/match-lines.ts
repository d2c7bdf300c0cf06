/** Where the lines of a script may have been spoken, by comparing words: cheap, tolerant, and to be checked against the sound. */

import { createDistanceTable, type DistanceTable } from "../../text/distances";
import { createDistanceCache } from "../../text/normal";
import { fromSeconds } from "../../time";
import { createYieldCounter, type PlanSteps } from "../context";
import type { Token } from "../tokens";
import type { ScriptLine } from "./script-lines";

/**
 * A stretch `[from, to)` of the heard words that resembles a line. `score` is 1 when every word matches, falling with each one that is
 * missing, different or extra. `pairs[k]` is the heard word that stands for the line's word k, -1 when none does.
 */
export type LineMatch = { line: number; from: number; to: number; score: number; pairs: Int32Array };

const LEAST_SCORE = 0.35;
const EXTRA_WORD = 0.7;
/** Extra cost of going on with a line after this long a pause. */
const LONG_PAUSE = fromSeconds(2);
const LONG_PAUSE_COST = 1;

/** Of each line so many stretches are looked at, and so many of all lines together; nobody makes more takes. */
const MOST_STRETCHES = 40;
const FEWEST_STRETCHES = 3;
const MOST_OF_ALL = 40_000;

type Near = (a: string, b: string) => number;

/** The stretches that resemble a line most, for each line in order of time; the stretches of one line do not overlap. */
export function* matchLines(lines: readonly ScriptLine[], tokens: readonly Token[]): PlanSteps<LineMatch[][]> {
  const isYieldDue = createYieldCounter();
  const distanceBetween = createDistanceCache();
  const table = createDistanceTable(tokens.map((word) => word.normal));
  const insertion = Float64Array.from(tokens, (word, j) =>
    j > 0 && word.start - tokens[j - 1]!.end > LONG_PAUSE ? EXTRA_WORD + LONG_PAUSE_COST : EXTRA_WORD,
  );
  const most = Math.max(FEWEST_STRETCHES, Math.min(MOST_STRETCHES, Math.floor(MOST_OF_ALL / lines.length)));
  const known = new Map<string, TextMatch[]>();
  const matches: LineMatch[][] = [];
  for (const [index, line] of lines.entries()) {
    const key = line.words.join(" ");
    const found = known.get(key) ?? (yield* findTextMatches(line.words, table, insertion, isYieldDue)).slice(0, most);
    known.set(key, found);
    const row: LineMatch[] = [];
    for (const { from, to } of found) {
      if (isYieldDue(line.words.length * (to - from))) yield [];
      row.push(trimmed(alignLineAt(index, line, tokens, from, to, distanceBetween)));
    }
    matches.push(row.filter((match) => match.to > match.from).sort((a, b) => a.from - b.from));
  }
  return matches;
}

type TextMatch = { from: number; to: number; score: number };

/** Semi-global alignment: the whole line against any stretch. The best stretches that do not overlap, best first. */
function* findTextMatches(
  words: readonly string[],
  { ids, row }: DistanceTable,
  insertion: Float64Array,
  isYieldDue: ReturnType<typeof createYieldCounter>,
): PlanSteps<TextMatch[]> {
  const size = ids.length;
  let cost = new Float64Array(size + 1);
  let from = Int32Array.from({ length: size + 1 }, (_, j) => j);
  let nextCost = new Float64Array(size + 1);
  let nextFrom = new Int32Array(size + 1);
  for (const [i, word] of words.entries()) {
    if (isYieldDue(size)) yield [];
    const distances = row(word);
    nextCost[0] = i + 1;
    nextFrom[0] = 0;
    for (let j = 1; j <= size; j++) {
      let least = cost[j - 1]! + distances[ids[j - 1]!]!;
      let origin = from[j - 1]!;
      if (cost[j]! + 1 < least) {
        least = cost[j]! + 1;
        origin = from[j]!;
      }
      const extra = nextCost[j - 1]! + insertion[j - 1]!;
      if (extra < least) {
        least = extra;
        origin = nextFrom[j - 1]!;
      }
      nextCost[j] = least;
      nextFrom[j] = origin;
    }
    [cost, nextCost] = [nextCost, cost];
    [from, nextFrom] = [nextFrom, from];
  }
  const found: TextMatch[] = [];
  for (let j = 1; j <= size; j++) {
    const score = 1 - cost[j]! / words.length;
    if (score >= LEAST_SCORE && from[j]! < j) found.push({ from: from[j]!, to: j, score });
  }
  found.sort((a, b) => b.score - a.score || b.to - a.to);
  const taken = new Uint8Array(size);
  return found.filter((span) => {
    for (let j = span.from; j < span.to; j++) if (taken[j]) return false;
    taken.fill(1, span.from, span.to);
    return true;
  });
}

/**
 * The match of a line with one given stretch. Of two heard words that may stand for the same word the later is taken: it was said last.
 */
export function alignLineAt(
  index: number,
  line: ScriptLine,
  tokens: readonly Token[],
  from: number,
  to: number,
  distanceBetween: Near = createDistanceCache(),
): LineMatch {
  const words = line.words;
  const n = words.length;
  const m = to - from;
  const width = m + 1;
  const cost = new Float64Array((n + 1) * width);
  for (let i = 0; i <= n; i++) {
    for (let j = 0; j <= m; j++) {
      if (i === 0 || j === 0) {
        cost[i * width + j] = i + j * EXTRA_WORD;
        continue;
      }
      cost[i * width + j] = Math.min(
        cost[(i - 1) * width + j - 1]! + distanceBetween(words[i - 1]!, tokens[from + j - 1]!.normal),
        cost[(i - 1) * width + j]! + 1,
        cost[i * width + j - 1]! + EXTRA_WORD,
      );
    }
  }
  const pairs = new Int32Array(n).fill(-1);
  let i = n;
  let j = m;
  while (i > 0 && j > 0) {
    const here = cost[i * width + j]!;
    const distance = distanceBetween(words[i - 1]!, tokens[from + j - 1]!.normal);
    if (Math.abs(here - cost[(i - 1) * width + j - 1]! - distance) < 1e-9) {
      if (distance < 1) pairs[i - 1] = from + j - 1;
      i--;
      j--;
    } else if (Math.abs(here - cost[(i - 1) * width + j]! - 1) < 1e-9) i--;
    else j--;
  }
  return { line: index, from, to, score: Math.max(0, 1 - cost[n * width + m]! / n), pairs };
}

/** Without the heard words at both ends that stand for nothing. */
function trimmed(match: LineMatch): LineMatch {
  const used = match.pairs.filter((tokens) => tokens >= 0);
  if (used.length === 0) return { ...match, to: match.from };
  return { ...match, from: used[0]!, to: used[used.length - 1]! + 1 };
}
