/**
 * Stage 7: finds the script's path through the recording: which token matches which word of the script, in order, such
 * that few words of the script are lost, little else is kept, and joins are at pauses. This is a shortest path over two
 * long texts; memory grows with only one of them.
 */

import { findDistanceTable } from "../../text/distances";
import { fromSeconds } from "../../time";
import { createYieldCounter, type PlanSteps } from "../context";
import type { Token } from "../tokens";
import type { ScriptLine } from "./script-lines";
import { SCRIPT } from "./thresholds";

/** `pairs[k]`: the token of script word k (counted through all lines), or -1. `kept[j]`: whether token j is kept. */
export type ScriptPath = { pairs: Int32Array; kept: Uint8Array };

/** The input of the search besides the words. `repeated[j]` is 1 if token j is repeated immediately. */
export type PathKnowledge = { repeated: Uint8Array; bias: LineBias; boundsOf?: LineBoundsOf };

/** Finds the path. Only every n-th row is stored; the rows in between are recomputed on the way back. */
export function* findPath(
  lines: readonly ScriptLine[],
  tokens: readonly Token[],
  { repeated, bias, boundsOf = () => ({ from: 0, to: tokens.length }) }: PathKnowledge,
): PlanSteps<ScriptPath> {
  const isYieldDue = createYieldCounter();
  const script = listScriptWords(lines);
  const step = createPathStep(tokens, repeated, bias, boundsOf);
  const height = Math.max(1, Math.ceil(Math.sqrt(script.length)));
  let [row, spare] = [createRow(tokens.length), createRow(tokens.length)];
  const checkpoints: CostRow[] = [];
  for (const [i, word] of script.entries()) {
    if (isYieldDue(tokens.length)) yield null;
    if (i % height === 0) checkpoints.push(copyRow(row));
    step(word, row, spare, null);
    [row, spare] = [spare, row];
  }
  extendRow(row, row.from, tokens.length);
  const pairs = new Int32Array(script.length).fill(-1);
  const kept = new Uint8Array(tokens.length);
  const at: PathPosition = { j: tokens.length, keeping: row.kept[tokens.length]! < row.skipping[tokens.length]! };
  for (let block = checkpoints.length - 1; block >= 0; block--) {
    const from = block * height;
    const words = script.slice(from, from + height);
    const steps = words.map(() => new Uint8Array(tokens.length + 1));
    row = checkpoints[block]!;
    spare = createRow(tokens.length);
    for (const [n, word] of words.entries()) {
      if (isYieldDue(tokens.length)) yield null;
      step(word, row, spare, steps[n]!);
      [row, spare] = [spare, row];
    }
    walkBack(steps, from, at, pairs, kept);
  }
  return { pairs, kept };
}

function listScriptWords(lines: readonly ScriptLine[]): ScriptWord[] {
  return lines.flatMap(({ words, optional }, line) =>
    words.map((word, k) => ({ word, line, first: k === 0, last: k === words.length - 1, optional })),
  );
}

type PathPosition = { j: number; keeping: boolean };

/** Follows the steps of a block of script words back to its start. */
function walkBack(
  steps: readonly Uint8Array[],
  from: number,
  at: PathPosition,
  pairs: Int32Array,
  kept: Uint8Array,
): void {
  for (let n = steps.length - 1; n >= 0; ) {
    const step = steps[n]![at.j]!;
    if (!at.keeping) {
      const reached = step & SKIP_MASK;
      if (reached === SKIP_WORD) at.j--;
      else if (reached === SKIP_START) at.keeping = true;
      else n--;
      continue;
    }
    const reached = step & KEPT_MASK;
    if (reached === EXTRA) kept[--at.j] = 1;
    else if (reached === LOST) n--;
    else {
      at.j--;
      pairs[from + n] = at.j;
      kept[at.j] = 1;
      at.keeping = reached === PAIRED;
      n--;
    }
  }
}

/** A word of the script and its position in its line. */
export type ScriptWord = { word: string; line: number; first: boolean; last: boolean; optional: boolean };

/** Returns the cost of matching each token with a word of the line, negative as a bonus. Null without candidates. */
export type LineBias = (line: number) => Float32Array | null;

/** Returns how many tokens may have passed when a line is spoken, `[from, to]`. */
export type LineBoundsOf = (line: number) => { from: number; to: number };

/** A row: the lowest costs after j tokens, with token j kept or skipped. Only cells `from` to `to` are computed. */
export type CostRow = { kept: Float64Array; skipping: Float64Array; from: number; to: number };

/** The ways to reach the kept state of a cell. */
export const PAIRED = 1;
export const PAIRED_AFTER_SKIP = 2;
export const LOST = 3;
export const EXTRA = 4;
export const KEPT_MASK = 7;
/** The ways to reach the skipping state of a cell. */
export const SKIP_WORD = 8;
export const SKIP_START = 16;
export const SKIP_LOST = 24;
export const SKIP_MASK = 24;

/** Returns an empty row for `size` tokens. */
export const createRow = (size: number): CostRow => ({
  kept: new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY),
  skipping: new Float64Array(size + 1),
  from: 0,
  to: size,
});

/** Returns a copy of a row. */
export const copyRow = ({ kept, skipping, from, to }: CostRow): CostRow => ({
  kept: kept.slice(),
  skipping: skipping.slice(),
  from,
  to,
});

/** Writes the row after one more word to `after`, and how each cell was reached to `steps`, unless it is null. */
export type PathStep = (word: ScriptWord, before: CostRow, after: CostRow, steps: Uint8Array | null) => void;

/** Returns the step function. `repeated[j]` is 1 for immediately repeated tokens, which are skipped cheaply. */
export function createPathStep(
  tokens: readonly Token[],
  repeated: Uint8Array,
  bias: LineBias,
  boundsOf: LineBoundsOf,
): PathStep {
  const size = tokens.length;
  const { ids, row: distancesTo } = findDistanceTable(tokens);
  const biasFor = cacheLast(bias);
  const gap = (j: number) => (j <= 0 || j >= size ? fromSeconds(1) : tokens[j]!.start - tokens[j - 1]!.end);
  const join = Float64Array.from({ length: size + 1 }, (_, j) =>
    gap(j) >= SCRIPT.minShortPause || repeated[j - 1] !== repeated[j] ? 0 : SCRIPT.fluentJoinCost,
  );
  const none = new Float32Array(size);

  return ({ word, line, first, last, optional }, before, after, steps) => {
    const { from, to } = boundsOf(line);
    const lost = optional ? SCRIPT.lostOptionalCost : SCRIPT.lostWordCost;
    const distances = distancesTo(word);
    const tokenBias = biasFor(line) ?? none;
    const enter = first ? 0 : SCRIPT.insideLineCost;
    const leave = last ? 0 : SCRIPT.insideLineCost;
    extendRow(before, from, to);
    const { kept: keptBefore, skipping: skippingBefore } = before;
    const { kept, skipping } = after;
    after.from = from;
    after.to = to;
    for (let j = from; j <= to; j++) {
      let lowest = keptBefore[j]! + lost;
      let keptStep = LOST;
      if (j > from) {
        const distance = distances[ids[j - 1]!]!;
        const cost = (optional && distance > 0 ? distance + SCRIPT.unlikeOptionalCost : distance) + tokenBias[j - 1]!;
        const paired = keptBefore[j - 1]! + cost;
        if (paired < lowest) {
          lowest = paired;
          keptStep = PAIRED;
        }
        const entered = skippingBefore[j - 1]! + join[j - 1]! + enter + cost;
        if (entered < lowest) {
          lowest = entered;
          keptStep = PAIRED_AFTER_SKIP;
        }
        const more = kept[j - 1]! + SCRIPT.keptWordCost;
        if (more < lowest) {
          lowest = more;
          keptStep = EXTRA;
        }
      }
      kept[j] = lowest;
      let skip = skippingBefore[j]! + lost;
      let skipStep = SKIP_LOST;
      if (lowest + join[j]! + leave < skip) {
        skip = lowest + join[j]! + leave;
        skipStep = SKIP_START;
      }
      if (j > from && skipping[j - 1]! <= skip) {
        skip = skipping[j - 1]!;
        skipStep = SKIP_WORD;
      }
      skipping[j] = skip;
      if (steps) steps[j] = keptStep | skipStep;
    }
    if (steps) steps.fill(SKIP_WORD, to + 1);
  };
}

/** Extends the cells of a row to `from` to `to`. Cells before the computed ones are unreachable. */
export function extendRow(row: CostRow, from: number, to: number): void {
  if (from < row.from) {
    row.kept.fill(Number.POSITIVE_INFINITY, from, row.from);
    row.skipping.fill(Number.POSITIVE_INFINITY, from, row.from);
    row.from = from;
  }
  if (to > row.to) {
    row.kept.fill(Number.POSITIVE_INFINITY, row.to + 1, to + 1);
    row.skipping.fill(row.skipping[row.to]!, row.to + 1, to + 1);
    row.to = to;
  }
}

/** Caches the bias of the last line, because the words of a line are consecutive. */
function cacheLast(bias: LineBias): LineBias {
  let last = -1;
  let known: Float32Array | null = null;
  return (line) => {
    if (line !== last) known = bias(line);
    last = line;
    return known;
  };
}
