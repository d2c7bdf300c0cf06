/** One step of the search for a script's path: from the costs after some words of the script to those after one more. */

import { createDistanceTable } from "../../text/distances";
import { fromSeconds } from "../../time";
import type { Token } from "../tokens";

/** A word of the script, with where it stands in its line. */
export type ScriptWord = { word: string; line: number; first: boolean; last: boolean; optional: boolean };

/**
 * What taking a heard word for a word of the line costs besides (negative: is worth), by what is known about the takes; null: nothing is
 * known about the line.
 */
export type LineBias = (line: number) => Float32Array | null;

/** How many heard words may have passed when a line is spoken, `[from, to]`. */
export type LineBoundsOf = (line: number) => { from: number; to: number };

/** The least costs with j heard words passed, the last of them kept, or left out. Only from `from` to `to` are they known. */
export type CostRow = { kept: Float64Array; skipping: Float64Array; from: number; to: number };

/** Not to find a word of the script, and to keep one that is not in it. */
const LOST_WORD = 0.8;
/** Words of a heading or an aside: most are never spoken. */
const LOST_OPTIONAL = 0.1;
const UNLIKE_OPTIONAL = 1;
const EXTRA_WORD = 0.7;
const EXTRA_AFTER_PAUSE = 0.6;
const LONG_PAUSE = fromSeconds(1.5);
/** Joining without a pause would be heard. */
const FLUENT = 1.6;
const SHORT_PAUSE = 0.6;
const PAUSE = 0.2;
/** Leaving or entering a line elsewhere than at its ends. */
const INSIDE_LINE = 0.6;

/** How the kept state of a cell was reached. */
export const PAIRED = 1;
export const PAIRED_AFTER_SKIP = 2;
export const LOST = 3;
export const EXTRA = 4;
export const KEPT_MASK = 7;
/** How the skipping state of a cell was reached. */
export const SKIP_WORD = 8;
export const SKIP_BEGINS = 16;
export const SKIP_LOST = 24;
export const SKIP_MASK = 24;

/** An empty row for so many heard words. */
export const newRow = (size: number): CostRow => ({
  kept: new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY),
  skipping: new Float64Array(size + 1),
  from: 0,
  to: size,
});

/** A copy of a row's known part. */
export const copyRow = ({ kept, skipping, from, to }: CostRow): CostRow => ({
  kept: kept.slice(),
  skipping: skipping.slice(),
  from,
  to,
});

/** Writes into `after` the costs after one more word; `steps`, when given, gets how each cell was reached. */
export type PathStep = (word: ScriptWord, before: CostRow, after: CostRow, steps: Uint8Array | null) => void;

/** Prepares the steps. `again[j]` is 1 when heard word j is said again right after: leaving it out joins like a pause. */
export function createPathStep(
  tokens: readonly Token[],
  repeated: Uint8Array,
  bias: LineBias,
  boundsOf: LineBoundsOf,
): PathStep {
  const size = tokens.length;
  const { ids, row: distancesTo } = createDistanceTable(tokens.map((word) => word.normal));
  const biasFor = rememberingLast(bias);
  const gap = (j: number) => (j <= 0 || j >= size ? fromSeconds(1) : tokens[j]!.start - tokens[j - 1]!.end);
  const join = Float64Array.from({ length: size + 1 }, (_, j) =>
    Math.min(joinCost(gap(j)), repeated[j - 1] !== repeated[j] ? SHORT_PAUSE : FLUENT),
  );
  const extra = Float64Array.from({ length: size + 1 }, (_, j) =>
    j > 0 && gap(j - 1) > LONG_PAUSE ? EXTRA_WORD + EXTRA_AFTER_PAUSE : EXTRA_WORD,
  );
  const none = new Float32Array(size);

  return ({ word, line, first, last, optional }, before, after, steps) => {
    const { from, to } = boundsOf(line);
    const lost = optional ? LOST_OPTIONAL : LOST_WORD;
    const distances = distancesTo(word);
    const known = biasFor(line) ?? none;
    const enter = first ? 0 : INSIDE_LINE;
    const leave = last ? 0 : INSIDE_LINE;
    extend(before, from, to);
    const { kept: keptBefore, skipping: skippingBefore } = before;
    const { kept, skipping } = after;
    after.from = from;
    after.to = to;
    for (let j = from; j <= to; j++) {
      let least = keptBefore[j]! + lost;
      let how = LOST;
      if (j > from) {
        const distance = distances[ids[j - 1]!]!;
        const cost = (optional && distance > 0 ? distance + UNLIKE_OPTIONAL : distance) + known[j - 1]!;
        const paired = keptBefore[j - 1]! + cost;
        if (paired < least) {
          least = paired;
          how = PAIRED;
        }
        const entered = skippingBefore[j - 1]! + join[j - 1]! + enter + cost;
        if (entered < least) {
          least = entered;
          how = PAIRED_AFTER_SKIP;
        }
        const more = kept[j - 1]! + extra[j]!;
        if (more < least) {
          least = more;
          how = EXTRA;
        }
      }
      kept[j] = least;
      let skip = skippingBefore[j]! + lost;
      let skipHow = SKIP_LOST;
      if (least + join[j]! + leave < skip) {
        skip = least + join[j]! + leave;
        skipHow = SKIP_BEGINS;
      }
      if (j > from && skipping[j - 1]! <= skip) {
        skip = skipping[j - 1]!;
        skipHow = SKIP_WORD;
      }
      skipping[j] = skip;
      if (steps) steps[j] = how | skipHow;
    }
    if (steps) steps.fill(SKIP_WORD, to + 1);
  };
}

/** Makes a row known from `from` to `to`: before its known part nothing can have been reached, after it words were only skipped. */
export function extend(row: CostRow, from: number, to: number): void {
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

function joinCost(pause: number): number {
  if (pause >= fromSeconds(0.25)) return PAUSE;
  return pause >= fromSeconds(0.1) ? SHORT_PAUSE : FLUENT;
}

/** The words of a line come one after the other: its bias is made once. */
function rememberingLast(bias: LineBias): LineBias {
  let last = -1;
  let known: Float32Array | null = null;
  return (line) => {
    if (line !== last) known = bias(line);
    last = line;
    return known;
  };
}
