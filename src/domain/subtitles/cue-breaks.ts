/** Divides the words of a kept segment into cues, and cues into lines, at the lowest total cost for the reader. */

import { type Span, TICKS_PER_SECOND, type Ticks } from "../time";
import { type BreakStrength, joinTokens, MAX_LINE_COLUMNS, type SubtitleToken } from "./tokens";

/** A cue's lines, and the time span of its words. */
export type CueText = Span & { lines: string[] };

export type CueLimits = { minGap: Ticks; minDuration: Ticks; maxDuration: Ticks };

const CUE_END_COST: Record<BreakStrength, number> = { sentence: 0, clause: 1, phrase: 3, none: 6, never: 1000 };
const LINE_END_COST: Record<BreakStrength, number> = { sentence: 0, clause: 2, phrase: 5, none: 12, never: 1000 };
const CUE_COST = 2;
/** Cost of two sentences in one cue, which is only better if one alone would be too short. */
const TWO_SENTENCES_COST = 3;
/** Cost of a cue with the end of one sentence and an incomplete start of another. */
const PARTIAL_SENTENCE_COST = 5;
/** Cost for each second below the minimum duration. */
const SHORT_CUE_COST_PER_SECOND = 5;
/** From the first duration on, a pause inside a cue has a cost; from the second on, it always separates cues. */
const COSTLY_PAUSE_TICKS: Ticks = 700_000;
const MAX_PAUSE_TICKS: Ticks = 1_500_000;
const FAST_READING_COLUMNS_PER_SECOND = 20;

/** Divides tokens into cues, in order, each token in exactly one cue. `end` is the end of the segment. */
export function divideIntoCues(tokens: readonly SubtitleToken[], end: Ticks, limits: CueLimits): CueText[] {
  const best: { cost: number; from: number }[] = [{ cost: 0, from: 0 }];
  for (let to = 1; to <= tokens.length; to++) {
    let choice = { cost: Number.POSITIVE_INFINITY, from: to - 1 };
    for (let from = to - 1; from >= 0; from--) {
      if (from < to - 1 && !canBeOneCue(tokens, from, to, limits)) break;
      const cost = best[from]!.cost + computeCueCost(tokens, from, to, end, limits);
      if (cost < choice.cost) choice = { cost, from };
    }
    best.push(choice);
  }
  const cues: CueText[] = [];
  for (let to = tokens.length; to > 0; to = best[to]!.from) {
    const cueTokens = tokens.slice(best[to]!.from, to);
    cues.push({ start: cueTokens[0]!.start, end: cueTokens.at(-1)!.end, lines: toLines(cueTokens) });
  }
  return cues.reverse();
}

/** Returns whether tokens may form one cue. If not, neither may any longer span with the same end. */
function canBeOneCue(tokens: readonly SubtitleToken[], from: number, to: number, { maxDuration }: CueLimits): boolean {
  const first = tokens[from]!;
  if (tokens[to - 1]!.end - first.start > maxDuration) return false;
  if (tokens[from + 1]!.start - first.end >= MAX_PAUSE_TICKS) return false;
  return findLineBreak(tokens, from, to) !== null;
}

function computeCueCost(
  tokens: readonly SubtitleToken[],
  from: number,
  to: number,
  segmentEnd: Ticks,
  limits: CueLimits,
): number {
  const [first, last] = [tokens[from]!, tokens[to - 1]!];
  const next = tokens[to];
  const available = Math.max(0, (next ? next.start - limits.minGap : segmentEnd) - first.start);
  const shown = Math.max(last.end - first.start, Math.min(available, limits.minDuration));
  let cost = CUE_COST + CUE_END_COST[last.breakAfter];
  cost += (SHORT_CUE_COST_PER_SECOND * Math.max(0, limits.minDuration - shown)) / TICKS_PER_SECOND;
  const columns = countColumns(tokens, from, to);
  const speed = (columns * TICKS_PER_SECOND) / Math.max(1, Math.max(shown, Math.min(available, limits.maxDuration)));
  cost += 0.15 * Math.min(40, Math.max(0, speed - FAST_READING_COLUMNS_PER_SECOND));
  if (columns > MAX_LINE_COLUMNS) cost += 0.5;
  for (let i = from; i < to - 1; i++) {
    if (tokens[i + 1]!.start - tokens[i]!.end >= COSTLY_PAUSE_TICKS) cost += 3;
    if (tokens[i]!.breakAfter === "sentence")
      cost += last.breakAfter === "sentence" ? TWO_SENTENCES_COST : PARTIAL_SENTENCE_COST;
  }
  return cost;
}

function countColumns(tokens: readonly SubtitleToken[], from: number, to: number): number {
  let columns = 0;
  for (let i = from; i < to; i++) columns += tokens[i]!.columns + (i === from || tokens[i]!.joinsPrevious ? 0 : 1);
  return columns;
}

/** Returns the first token of the second line: `to` if one line is enough, null if two are not. */
function findLineBreak(tokens: readonly SubtitleToken[], from: number, to: number): number | null {
  const totalColumns = countColumns(tokens, from, to);
  if (totalColumns <= MAX_LINE_COLUMNS) return to;
  let best: number | null = null;
  let lowestCost = Number.POSITIVE_INFINITY;
  let upperColumns = 0;
  for (let at = from + 1; at < to; at++) {
    const token = tokens[at - 1]!;
    upperColumns += token.columns + (at - 1 === from || token.joinsPrevious ? 0 : 1);
    const lowerColumns = totalColumns - upperColumns - (tokens[at]!.joinsPrevious ? 0 : 1);
    if (upperColumns > MAX_LINE_COLUMNS) break;
    if (lowerColumns > MAX_LINE_COLUMNS) continue;
    const cost =
      LINE_END_COST[token.breakAfter] +
      Math.abs(upperColumns - lowerColumns) * 0.5 +
      (upperColumns > lowerColumns ? 0.5 : 0);
    if (cost >= lowestCost) continue;
    lowestCost = cost;
    best = at;
  }
  return best;
}

function toLines(tokens: readonly SubtitleToken[]): string[] {
  const at = findLineBreak(tokens, 0, tokens.length) ?? tokens.length;
  return [tokens.slice(0, at), tokens.slice(at)].filter((line) => line.length > 0).map(joinTokens);
}
