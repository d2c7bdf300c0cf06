/** Where the words of one kept part are divided into cues, and a cue into lines: the division that costs a reader least. */

import { type Span, TICKS_PER_SECOND, type Ticks } from "../time";
import { joinTokens, LINE_COLUMNS, type Pause, type Token } from "./text";

/** A cue's lines, and from when to when its words are spoken. */
export type CueText = Span & { lines: string[] };

export type CueLimits = { gap: Ticks; shortest: Ticks; longest: Ticks };

const CUE_END_COST: Record<Pause, number> = { sentence: 0, clause: 1, phrase: 3, none: 6, never: 1000 };
const LINE_END_COST: Record<Pause, number> = { sentence: 0, clause: 2, phrase: 5, none: 12, never: 1000 };
const A_CUE = 2;
/** Two sentences in one cue: better when one alone would be too short. */
const TOGETHER = 3;
/** A cue that holds the end of a sentence and then the beginning of another that it does not finish. */
const MIXED = 5;
/** For each second that a cue is shorter than it should be. */
const TOO_SHORT = 5;
/** Silence inside a cue: from the first length on it costs, from the second on it always parts. */
const PAUSE: Ticks = 700_000;
const LONG_PAUSE: Ticks = 1_500_000;
const FAST_READING = 20;

/** Divides; `end` is when the part ends. Every token is in exactly one cue, in order. */
export function divideIntoCues(tokens: readonly Token[], end: Ticks, limits: CueLimits): CueText[] {
  const best: { cost: number; from: number }[] = [{ cost: 0, from: 0 }];
  for (let to = 1; to <= tokens.length; to++) {
    let choice = { cost: Number.POSITIVE_INFINITY, from: to - 1 };
    for (let from = to - 1; from >= 0; from--) {
      if (from < to - 1 && !mayHold(tokens, from, to, limits)) break;
      const cost = best[from]!.cost + cueCost(tokens, from, to, end, limits);
      if (cost < choice.cost) choice = { cost, from };
    }
    best.push(choice);
  }
  const cues: CueText[] = [];
  for (let to = tokens.length; to > 0; to = best[to]!.from) {
    const held = tokens.slice(best[to]!.from, to);
    cues.push({ start: held[0]!.start, end: held.at(-1)!.end, lines: linesOf(held) });
  }
  return cues.reverse();
}

/** Whether tokens may be one cue; when they may not, no longer stretch with the same end may. */
function mayHold(tokens: readonly Token[], from: number, to: number, { longest }: CueLimits): boolean {
  const first = tokens[from]!;
  if (tokens[to - 1]!.end - first.start > longest) return false;
  if (tokens[from + 1]!.start - first.end >= LONG_PAUSE) return false;
  return bestLineBreak(tokens, from, to) !== null;
}

function cueCost(tokens: readonly Token[], from: number, to: number, partEnd: Ticks, limits: CueLimits): number {
  const [first, last] = [tokens[from]!, tokens[to - 1]!];
  const next = tokens[to];
  const room = Math.max(0, (next ? next.start - limits.gap : partEnd) - first.start);
  const shown = Math.max(last.end - first.start, Math.min(room, limits.shortest));
  let cost = A_CUE + CUE_END_COST[last.pause];
  cost += (TOO_SHORT * Math.max(0, limits.shortest - shown)) / TICKS_PER_SECOND;
  const columns = columnsOf(tokens, from, to);
  const speed = (columns * TICKS_PER_SECOND) / Math.max(1, Math.max(shown, Math.min(room, limits.longest)));
  cost += 0.15 * Math.min(40, Math.max(0, speed - FAST_READING));
  if (columns > LINE_COLUMNS) cost += 0.5;
  for (let i = from; i < to - 1; i++) {
    if (tokens[i + 1]!.start - tokens[i]!.end >= PAUSE) cost += 3;
    if (tokens[i]!.pause === "sentence") cost += last.pause === "sentence" ? TOGETHER : MIXED;
  }
  return cost;
}

function columnsOf(tokens: readonly Token[], from: number, to: number): number {
  let columns = 0;
  for (let i = from; i < to; i++) columns += tokens[i]!.columns + (i === from || tokens[i]!.glued ? 0 : 1);
  return columns;
}

/** The token that the second line begins with: `to` when one line is enough, null when two are not. */
function bestLineBreak(tokens: readonly Token[], from: number, to: number): number | null {
  const whole = columnsOf(tokens, from, to);
  if (whole <= LINE_COLUMNS) return to;
  let best: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  let upper = 0;
  for (let at = from + 1; at < to; at++) {
    const token = tokens[at - 1]!;
    upper += token.columns + (at - 1 === from || token.glued ? 0 : 1);
    const lower = whole - upper - (tokens[at]!.glued ? 0 : 1);
    if (upper > LINE_COLUMNS) break;
    if (lower > LINE_COLUMNS) continue;
    const cost = LINE_END_COST[token.pause] + Math.abs(upper - lower) * 0.5 + (upper > lower ? 0.5 : 0);
    if (cost >= least) continue;
    least = cost;
    best = at;
  }
  return best;
}

function linesOf(tokens: readonly Token[]): string[] {
  const at = bestLineBreak(tokens, 0, tokens.length) ?? tokens.length;
  return [tokens.slice(0, at), tokens.slice(at)].filter((line) => line.length > 0).map(joinTokens);
}
