/**
 * One step of the search for the script's path. The search fills a table with a row for each word of the script and a
 * cell for each count of tokens: cell j has the lowest costs of aligning the script up to that word with the first j
 * tokens. A step computes the next row.
 */
import { createDistanceTable } from "../../text/distances";
import { fromSeconds } from "../../time";
import type { Token } from "../tokens";

/** A word of the script and its position in its line. */
export type ScriptWord = { word: string; line: number; first: boolean; last: boolean; optional: boolean };

/** Returns the cost of matching each token with a word of the line, negative as a bonus. Null without candidates. */
export type LineBias = (line: number) => Float32Array | null;

/** Returns how many tokens may have passed when a line is spoken, `[from, to]`. */
export type LineBoundsOf = (line: number) => { from: number; to: number };

/** A row: the lowest costs after j tokens, with token j kept or skipped. Only cells `from` to `to` are computed. */
export type CostRow = { kept: Float64Array; skipping: Float64Array; from: number; to: number };

/** Costs of a script word that is not found, and of a kept token that is not in the script. */
const LOST_WORD_COST = 0.8;
const EXTRA_WORD_COST = 0.7;
/** Costs of words in a heading or an aside: most are never spoken. */
const LOST_OPTIONAL_COST = 0.1;
const UNLIKE_OPTIONAL_COST = 1;
const EXTRA_AFTER_PAUSE_COST = 0.6;
const LONG_PAUSE_TICKS = fromSeconds(1.5);
/** Costs of a join, by its pause. A join without a pause is audible. */
const FLUENT_JOIN_COST = 1.6;
const SHORT_PAUSE_JOIN_COST = 0.6;
const PAUSE_JOIN_COST = 0.2;
const MIN_PAUSE_TICKS = fromSeconds(0.25);
const MIN_SHORT_PAUSE_TICKS = fromSeconds(0.1);
/** Cost of leaving or entering a line at other positions than its ends. */
const INSIDE_LINE_COST = 0.6;

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
  const { ids, row: distancesTo } = createDistanceTable(tokens.map((word) => word.normal));
  const biasFor = cacheLast(bias);
  const gap = (j: number) => (j <= 0 || j >= size ? fromSeconds(1) : tokens[j]!.start - tokens[j - 1]!.end);
  const join = Float64Array.from({ length: size + 1 }, (_, j) =>
    Math.min(joinCost(gap(j)), repeated[j - 1] !== repeated[j] ? SHORT_PAUSE_JOIN_COST : FLUENT_JOIN_COST),
  );
  const extra = Float64Array.from({ length: size + 1 }, (_, j) =>
    j > 0 && gap(j - 1) > LONG_PAUSE_TICKS ? EXTRA_WORD_COST + EXTRA_AFTER_PAUSE_COST : EXTRA_WORD_COST,
  );
  const none = new Float32Array(size);

  return ({ word, line, first, last, optional }, before, after, steps) => {
    const { from, to } = boundsOf(line);
    const lost = optional ? LOST_OPTIONAL_COST : LOST_WORD_COST;
    const distances = distancesTo(word);
    const tokenBias = biasFor(line) ?? none;
    const enter = first ? 0 : INSIDE_LINE_COST;
    const leave = last ? 0 : INSIDE_LINE_COST;
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
        const cost = (optional && distance > 0 ? distance + UNLIKE_OPTIONAL_COST : distance) + tokenBias[j - 1]!;
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
        const more = kept[j - 1]! + extra[j]!;
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

function joinCost(pause: number): number {
  if (pause >= MIN_PAUSE_TICKS) return PAUSE_JOIN_COST;
  return pause >= MIN_SHORT_PAUSE_TICKS ? SHORT_PAUSE_JOIN_COST : FLUENT_JOIN_COST;
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
