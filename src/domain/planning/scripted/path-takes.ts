/** The take of each line along the script's path through the recording. */

import { fromSeconds, type Span } from "../../time";
import { takeWorth } from "../take-list";
import type { Token } from "../tokens";
import type { ScriptPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import type { LineBias, LineBoundsOf } from "./path-costs";
import type { ScriptLine } from "./script-lines";

/** A line as the path has it: heard words `[from, to)`, of which those in `skipped` are not kept. */
export type PathTake = {
  line: number;
  from: number;
  to: number;
  pairs: Int32Array;
  score: number;
  skipped: TokenRange[];
};
/** Heard words `[from, to)`. */
export type TokenRange = { from: number; to: number };

const NOT_FITTING = 0.25;
/** A line that was surely found somewhere is not looked for in other words. */
const ELSEWHERE = 0.4;
const MOST_MISSPELLED = 1;

/** What an accepted take is worth for each of its words, when so many were accepted before it. */
export const rateTake = (take: LineCandidate, rank: number): number => takeWorth(take.quality, rank);

/**
 * How the takes that were checked against the sound lean the path. In a stretch where the sound says that the line is spoken, what the
 * recogniser misspelled is made good, so that takes are compared by their sound.
 */
export function createLineBias(candidates: readonly LineCandidate[][], tokenCount: number): LineBias {
  return (line) => {
    const row = candidates[line];
    if (!row || row.length === 0) return null;
    const accepted = row.filter((one) => one.accepted);
    const bias = new Float32Array(tokenCount).fill(accepted.length > 0 ? ELSEWHERE : 0);
    for (const one of row) if (!one.accepted) bias.fill(NOT_FITTING, one.from, one.to);
    for (const [rank, one] of accepted.entries()) {
      const misspelled = (1 - one.score) * (one.pairs.length / (one.to - one.from));
      bias.fill(-rateTake(one, rank) - Math.min(MOST_MISSPELLED, misspelled), one.from, one.to);
    }
    return bias;
  };
}

/** Smaller searches are made whole. */
const WHOLE_SEARCH = 10_000_000;
/** How many heard words around what its neighbours leave room for a line is looked for in. */
const MARGIN = 700;

/** Where each line can be, when takes that are beyond doubt before and after it leave it only so much room. */
export function findLineBounds(
  lines: readonly ScriptLine[],
  candidates: readonly LineCandidate[][],
  tokenCount: number,
): LineBoundsOf {
  const size = lines.reduce((sum, line) => sum + line.words.length, 0) * tokenCount;
  const whole = { from: 0, to: tokenCount };
  if (size <= WHOLE_SEARCH) return () => whole;
  const sure = longestChain(
    candidates.flat().filter((one) => one.accepted && one.quality >= 0.7 && one.pairs.length >= 4),
  );
  const bounds = lines.map(() => ({ ...whole }));
  for (const one of sure) {
    for (let i = one.line; i < lines.length; i++) bounds[i]!.from = Math.max(bounds[i]!.from, one.from - MARGIN);
    for (let i = one.line; i >= 0; i--) bounds[i]!.to = Math.min(bounds[i]!.to, one.to + MARGIN);
  }
  return (line) => bounds[line]!;
}

/** The most words of candidates that follow one another both in the script and in time. */
function longestChain(candidates: LineCandidate[]): LineCandidate[] {
  const sorted = candidates.sort((a, b) => a.from - b.from);
  const sums = sorted.map((one) => one.pairs.length);
  const previous = sorted.map(() => -1);
  let end = -1;
  for (const [i, one] of sorted.entries()) {
    for (let k = 0; k < i; k++) {
      const other = sorted[k]!;
      if (other.line >= one.line || other.to > one.from || sums[k]! + one.pairs.length <= sums[i]!) continue;
      sums[i] = sums[k]! + one.pairs.length;
      previous[i] = k;
    }
    if (end < 0 || sums[i]! > sums[end]!) end = i;
  }
  const chain: LineCandidate[] = [];
  for (; end >= 0; end = previous[end]!) chain.push(sorted[end]!);
  return chain.reverse();
}

/** A word or two that run into a kept one without a pause are most likely words of its line that were misheard. */
const FRINGE_WORDS = 2;
const FLUENT = fromSeconds(0.15);
const PAUSE = fromSeconds(0.22);

/** The path with such words kept. `again[j]` is 1 when heard word j is said again right after: those stay out. */
export function withAdjacentWords(path: ScriptPath, tokens: readonly Token[], repeated: Uint8Array): ScriptPath {
  const kept = path.kept.slice();
  for (let j = 0; j < tokens.length; j++) {
    if (!path.kept[j]) continue;
    for (const step of [-1, 1]) {
      const fringe: number[] = [];
      let at = j + step;
      while (fringe.length <= FRINGE_WORDS && tokens[at] && !kept[at] && gap(tokens, at, at - step) < FLUENT) {
        fringe.push(at);
        at += step;
      }
      const apart = !tokens[at] || gap(tokens, at, at - step) >= PAUSE;
      const misheard = fringe.length <= FRINGE_WORDS && apart && fringe.every((k) => !repeated[k]);
      if (misheard) for (const k of fringe) kept[k] = 1;
    }
  }
  return { pairs: path.pairs, kept };
}

const gap = (tokens: readonly Token[], a: number, b: number) =>
  a < b ? tokens[b]!.start - tokens[a]!.end : tokens[a]!.start - tokens[b]!.end;

/** The takes along a path; null for a line of which no word was paired. */
export function listPathTakes(
  lines: readonly ScriptLine[],
  path: ScriptPath,
  tokens: readonly Token[],
): (PathTake | null)[] {
  let at = 0;
  let taken = 0;
  return lines.map((line, index) => {
    const pairs = path.pairs.slice(at, at + line.words.length);
    at += line.words.length;
    const used = pairs.filter((tokens) => tokens >= 0);
    if (used.length === 0) return null;
    let from = used[0]!;
    while (from > taken && path.kept[from - 1]) from--;
    const next = path.pairs.subarray(at).find((tokens) => tokens >= 0) ?? path.kept.length;
    let to = used[used.length - 1]! + 1;
    to = extrasEnd(path, tokens, to, next);
    taken = to;
    const skipped: TokenRange[] = [];
    let extra = 0;
    for (let j = from; j < to; j++) {
      if (path.kept[j]) {
        if (!used.includes(j)) extra++;
        continue;
      }
      const last = skipped.at(-1);
      if (last && last.to === j) last.to = j + 1;
      else skipped.push({ from: j, to: j + 1 });
    }
    const score = (used.length - 0.5 * extra) / line.words.length;
    return { line: index, from, to, pairs, score, skipped };
  });
}

/** Where the kept words that follow a line's last one stop belonging to it: at the first that is not kept, or the longest pause. */
function extrasEnd(path: ScriptPath, tokens: readonly Token[], to: number, next: number): number {
  let end = to;
  while (end < next && path.kept[end]) end++;
  if (end < next || next === tokens.length) return end;
  let best = to;
  for (let j = to; j <= end; j++) if (gap(tokens, j - 1, j) > gap(tokens, best - 1, best)) best = j;
  return best;
}

/** The sound of a run of skipped words, from the kept word before it to the kept word after it, less a little on both sides. */
export function skippedSpan(run: TokenRange, tokens: readonly Token[]): Span {
  const before = tokens[run.from - 1]?.end ?? 0;
  const after = tokens[run.to]?.start ?? tokens[run.to - 1]!.end;
  const start = tokens[run.from]!.start;
  const end = tokens[run.to - 1]!.end;
  return {
    start: Math.round(Math.max(before, start - Math.max(0, start - before) / 2)),
    end: Math.round(Math.min(Math.max(after, end), end + Math.max(0, after - end) / 2)),
  };
}
