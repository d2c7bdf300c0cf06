/** Finds where lines may be spoken, by comparing words. Cheap and tolerant; forced alignment verifies it. */

import { type DistanceTable, findDistanceTable } from "../../text/distances";
import { measureWordDistance } from "../../text/normalize";
import { createYieldCounter, type PlanSteps } from "../context";
import { COMMON, SCRIPT } from "../thresholds";
import { pauseBefore, type Token, type TokenRange } from "../tokens";
import type { ScriptLine } from "./script-lines";

/**
 * Tokens `[from, to)` that resemble a line. `score` is 1 if every word matches, and lower for each missing, different
 * or extra word. `pairs[k]` is the token that matches word k of the line, or -1.
 */
export type LineMatch = { line: number; from: number; to: number; score: number; pairs: Int32Array };

/** Costs differ by more, or are equal. */
const ROUNDING_ERROR = 1e-3;

/** Returns the best matches of each line in order of time. The matches of one line do not overlap. */
export function* matchLines(lines: readonly ScriptLine[], tokens: readonly Token[]): PlanSteps<LineMatch[][]> {
  const isYieldDue = createYieldCounter();
  const table = findDistanceTable(tokens);
  const share = Math.floor(SCRIPT.maxMatches / lines.length);
  const maxMatches = Math.max(SCRIPT.minMatchesPerLine, Math.min(SCRIPT.maxMatchesPerLine, share));
  const known = new Map<string, TextMatch[]>();
  const matches: LineMatch[][] = [];
  for (const [index, line] of lines.entries()) {
    const key = line.words.join(" ");
    const found =
      known.get(key) ?? (yield* findTextMatches(line.words, tokens, table, isYieldDue)).slice(0, maxMatches);
    known.set(key, found);
    const row: LineMatch[] = [];
    for (const { from, to } of found) {
      if (isYieldDue(line.words.length * (to - from))) yield null;
      row.push(trimMatch(alignLineAt(index, line, tokens, from, to)));
    }
    matches.push(row.filter((match) => match.to > match.from).sort((a, b) => a.from - b.from));
  }
  return matches;
}

type TextMatch = { from: number; to: number; score: number };

/** Aligns the whole line with any stretch (semi-global alignment). Returns the best disjoint stretches, best first. */
function* findTextMatches(
  words: readonly string[],
  tokens: readonly Token[],
  table: DistanceTable,
  isYieldDue: ReturnType<typeof createYieldCounter>,
): PlanSteps<TextMatch[]> {
  const found: TextMatch[] = [];
  for (const range of findSimilarRanges(words, table)) {
    if (isYieldDue(words.length * (range.to - range.from))) yield null;
    found.push(...alignInRange(words, table, range).map((match) => withoutFragments(match, words, tokens)));
  }
  found.sort((a, b) => b.score - a.score || b.to - a.to);
  const taken = new Uint8Array(table.ids.length);
  return found.filter((match) => {
    for (let j = match.from; j < match.to; j++) if (taken[j]) return false;
    taken.fill(1, match.from, match.to);
    return true;
  });
}

/**
 * Returns a match without the first words of the phrase after it, and without the last ones of the phrase before it. A
 * match with exactly the words of the line loses them only to another take of the line.
 */
function withoutFragments(match: TextMatch, words: readonly string[], tokens: readonly Token[]): TextMatch {
  let { from, to } = match;
  const isPause = (j: number) => pauseBefore(tokens, j) >= SCRIPT.minSentencePause;
  const isFluent = (j: number) => j > 0 && j < tokens.length && pauseBefore(tokens, j) < COMMON.maxFluentGap;
  // A few words may match by coincidence.
  const isLineWithout = (n: number) => match.score === 1 && words.length - n > COMMON.maxSlipWords;
  const isSaid = (own: readonly string[], at: number) => own.every((word, n) => word === tokens[at + n]?.normal);
  const isOtherStart = (at: number, n: number) => !isLineWithout(n) || isSaid(words.slice(0, n + 1), at);
  const isOtherEnd = (at: number, n: number) => !isLineWithout(n) || isSaid(words.slice(-n - 1), at);
  for (let n = 1; n <= COMMON.maxSlipWords && to - n > from; n++)
    if (isPause(to - n) && isFluent(to) && isOtherStart(to - n, n)) to -= n;
  for (let n = 1; n <= COMMON.maxSlipWords && from + n < to; n++)
    if (isPause(from + n) && isFluent(from) && isOtherEnd(from - 1, n)) from += n;
  return { ...match, from, to };
}

/**
 * Returns the ranges with enough similar words for a match. A match has fewer than twice as many words as the line,
 * because each of the others costs.
 */
function findSimilarRanges(words: readonly string[], { ids, row, size }: DistanceTable): TokenRange[] {
  const gains = new Float32Array(size);
  for (const word of words) {
    const distances = row(word);
    for (let id = 0; id < size; id++) if (1 - distances[id]! > gains[id]!) gains[id] = 1 - distances[id]!;
  }
  const width = 2 * words.length;
  const least = SCRIPT.minMatchScore * words.length - ROUNDING_ERROR;
  const ranges: TokenRange[] = [];
  let sum = 0;
  for (let j = 0; j < ids.length; j++) {
    sum += gains[ids[j]!]! - (j >= width ? gains[ids[j - width]!]! : 0);
    if (sum < least) continue;
    const from = Math.max(0, j + 1 - width);
    const last = ranges.at(-1);
    if (last && from <= last.to) last.to = j + 1;
    else ranges.push({ from, to: j + 1 });
  }
  return ranges;
}

function alignInRange(words: readonly string[], { ids, row }: DistanceTable, range: TokenRange): TextMatch[] {
  const size = range.to - range.from;
  let cost = new Float64Array(size + 1);
  let from = Int32Array.from({ length: size + 1 }, (_, j) => j);
  let nextCost = new Float64Array(size + 1);
  let nextFrom = new Int32Array(size + 1);
  for (const [i, word] of words.entries()) {
    const distances = row(word);
    nextCost[0] = i + 1;
    nextFrom[0] = 0;
    for (let j = 1; j <= size; j++) {
      let lowest = cost[j - 1]! + distances[ids[range.from + j - 1]!]!;
      let origin = from[j - 1]!;
      if (cost[j]! + 1 < lowest) {
        lowest = cost[j]! + 1;
        origin = from[j]!;
      }
      const inserted = nextCost[j - 1]! + SCRIPT.keptWordCost;
      if (inserted < lowest) {
        lowest = inserted;
        origin = nextFrom[j - 1]!;
      }
      nextCost[j] = lowest;
      nextFrom[j] = origin;
    }
    [cost, nextCost] = [nextCost, cost];
    [from, nextFrom] = [nextFrom, from];
  }
  const found: TextMatch[] = [];
  for (let j = 1; j <= size; j++) {
    const score = 1 - cost[j]! / words.length;
    if (score >= SCRIPT.minMatchScore && from[j]! < j)
      found.push({ from: range.from + from[j]!, to: range.from + j, score });
  }
  return found;
}

/** Returns the match of a line with a stretch. If two tokens match one word, the later one wins. */
export function alignLineAt(
  index: number,
  line: ScriptLine,
  tokens: readonly Token[],
  from: number,
  to: number,
): LineMatch {
  const words = line.words;
  const n = words.length;
  const m = to - from;
  const width = m + 1;
  const cost = new Float64Array((n + 1) * width);
  for (let i = 0; i <= n; i++) {
    for (let j = 0; j <= m; j++) {
      if (i === 0 || j === 0) {
        cost[i * width + j] = i + j * SCRIPT.keptWordCost;
        continue;
      }
      cost[i * width + j] = Math.min(
        cost[(i - 1) * width + j - 1]! + measureWordDistance(words[i - 1]!, tokens[from + j - 1]!.normal),
        cost[(i - 1) * width + j]! + 1,
        cost[i * width + j - 1]! + SCRIPT.keptWordCost,
      );
    }
  }
  const pairs = new Int32Array(n).fill(-1);
  let i = n;
  let j = m;
  while (i > 0 && j > 0) {
    const here = cost[i * width + j]!;
    const distance = measureWordDistance(words[i - 1]!, tokens[from + j - 1]!.normal);
    if (Math.abs(here - cost[(i - 1) * width + j - 1]! - distance) < ROUNDING_ERROR) {
      if (distance < 1) pairs[i - 1] = from + j - 1;
      i--;
      j--;
    } else if (Math.abs(here - cost[(i - 1) * width + j]! - 1) < ROUNDING_ERROR) i--;
    else j--;
  }
  return { line: index, from, to, score: Math.max(0, 1 - cost[n * width + m]! / n), pairs };
}

/** Drops the tokens at both ends that match no word. */
function trimMatch(match: LineMatch): LineMatch {
  const used = match.pairs.filter((token) => token >= 0);
  if (used.length === 0) return { ...match, to: match.from };
  return { ...match, from: used[0]!, to: used[used.length - 1]! + 1 };
}
