/**
 * Finds the script's path through the recording: which token matches which word of the script, in order, such
 * that few words of the script are lost, little else is kept, and joins are at pauses. This is a shortest path over two
 * long texts; memory grows with only one of them.
 */

import { findDistanceTable } from "../../text/distances";
import { createYieldCounter, type PlanSteps } from "../context";
import { takeWorth } from "../take-list";
import { COMMON, RETAKES, SCRIPT } from "../thresholds";
import { pauseBefore, type Token, type TokenRange } from "../tokens";
import type { LineCandidate } from "./line-candidates";
import type { ScriptLine } from "./script-lines";

/** `pairs[k]`: the token of script word k (counted through all lines), or -1. `kept[j]`: whether token j is kept. */
export type ScriptPath = { pairs: Int32Array; kept: Uint8Array };

/**
 * The input of the search besides the words. `repeated[j]` is 1 if token j is repeated immediately. `isAligned`: the
 * bias comes from forced alignment, which tells remarks from words that the script lacks.
 */
type PathKnowledge = { repeated: Uint8Array; bias: LineBias; boundsOf?: LineBoundsOf; isAligned?: boolean };

/** How many steps are stored, one byte each. */
const MAX_STORED_STEPS = 32_000_000;

/** Finds the path. The steps of a block of words are stored; those of earlier blocks are recomputed on the way back. */
export function* findPath(
  lines: readonly ScriptLine[],
  tokens: readonly Token[],
  { repeated, bias, boundsOf = () => ({ from: 0, to: tokens.length }), isAligned = true }: PathKnowledge,
  maxStoredSteps = MAX_STORED_STEPS,
): PlanSteps<ScriptPath> {
  const isYieldDue = createYieldCounter();
  const blocks = divideScript(lines, boundsOf, maxStoredSteps);
  const step = createPathStep(tokens, { repeated, bias, isAligned });
  const steps = new Uint8Array(Math.max(0, ...blocks.map(({ size }) => size)));
  let [row, spare] = [createRow(tokens.length), createRow(tokens.length)];
  function* search({ words }: PathBlock): PlanSteps<void> {
    for (const word of words) {
      const count = countSteps(word.bounds);
      if (isYieldDue(count)) yield null;
      step(word, row, spare, steps.subarray(word.at, word.at + count));
      [row, spare] = [spare, row];
    }
  }
  const starts: CostRow[] = [];
  for (const block of blocks) {
    starts.push(copyRow(row));
    yield* search(block);
  }
  extendRow(row, row.from, tokens.length);
  const wordCount = blocks.reduce((sum, { words }) => sum + words.length, 0);
  const path = { pairs: new Int32Array(wordCount).fill(-1), kept: new Uint8Array(tokens.length) };
  const at: PathPosition = { j: tokens.length, keeping: row.kept[tokens.length]! < row.skipping[tokens.length]! };
  for (let n = blocks.length - 1; n >= 0; n--) {
    if (n < blocks.length - 1) {
      row = starts[n]!;
      yield* search(blocks[n]!);
    }
    walkBack(blocks[n]!, steps, at, path);
  }
  return path;
}

/** Divides the words of the script into blocks of at most `maxSteps` steps, or one word. */
function divideScript(lines: readonly ScriptLine[], boundsOf: LineBoundsOf, maxSteps: number): PathBlock[] {
  const blocks: PathBlock[] = [];
  let index = 0;
  for (const [line, { words, optional }] of lines.entries()) {
    const bounds = boundsOf(line);
    const count = countSteps(bounds);
    for (const [k, word] of words.entries()) {
      let block = blocks.at(-1);
      if (!block || block.size + count > maxSteps) {
        block = { from: index, words: [], size: 0 };
        blocks.push(block);
      }
      const [first, last] = [k === 0, k === words.length - 1];
      block.words.push({ word, line, first, last, optional, bounds, at: block.size });
      block.size += count;
      index++;
    }
  }
  return blocks;
}

const countSteps = ({ from, to }: TokenRange): number => to - from + 1;

type PathPosition = { j: number; keeping: boolean };

/** Follows the steps of a block of script words back to its start. */
function walkBack({ from, words }: PathBlock, steps: Uint8Array, at: PathPosition, { pairs, kept }: ScriptPath): void {
  for (let n = words.length - 1; n >= 0; ) {
    const { bounds, at: first } = words[n]!;
    const step = at.j > bounds.to ? SKIP_WORD << SKIP_SHIFT : steps[first + at.j - bounds.from]!;
    if (!at.keeping) {
      const reached = step >> SKIP_SHIFT;
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

/** A word of the script and its position in its line. `at` is its first step in its block, `bounds` are of the line. */
type ScriptWord = {
  word: string;
  line: number;
  first: boolean;
  last: boolean;
  optional: boolean;
  bounds: TokenRange;
  at: number;
};

/** The words of the script from word `from` on. They have `size` steps. */
type PathBlock = { from: number; words: ScriptWord[]; size: number };

/** Returns the cost of matching each token with a word of the line, negative as a bonus. Null without candidates. */
type LineBias = (line: number) => Float32Array | null;

/** Returns how many tokens may have passed when a line is spoken, `[from, to]`. */
type LineBoundsOf = (line: number) => TokenRange;

/** A row: the lowest costs after j tokens, with token j kept or skipped. Only cells `from` to `to` are computed. */
type CostRow = { kept: Float64Array; skipping: Float64Array; from: number; to: number };

/** The ways to reach the kept state of a cell. */
const [LOST, PAIRED, PAIRED_AFTER_SKIP, EXTRA] = [0, 1, 2, 3];
/** The ways to reach the skipping state of a cell. They are in the bits above the others. */
const [SKIP_LOST, SKIP_WORD, SKIP_START] = [0, 1, 2];
const SKIP_SHIFT = 2;
const KEPT_MASK = (1 << SKIP_SHIFT) - 1;

/** Returns an empty row for `size` tokens. */
const createRow = (size: number): CostRow => ({
  kept: new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY),
  skipping: new Float64Array(size + 1),
  from: 0,
  to: size,
});

/** Returns a copy of a row. */
const copyRow = ({ kept, skipping, from, to }: CostRow): CostRow => ({
  kept: kept.slice(),
  skipping: skipping.slice(),
  from,
  to,
});

/** Writes the row after one more word to `after`, and how each cell of its bounds was reached to `steps`. */
type PathStep = (word: ScriptWord, before: CostRow, after: CostRow, steps: Uint8Array) => void;

/** Returns the step function. Immediately repeated tokens are left out at no cost. */
function createPathStep(
  tokens: readonly Token[],
  { repeated, bias, isAligned }: Required<Omit<PathKnowledge, "boundsOf">>,
): PathStep {
  const size = tokens.length;
  const { ids, row: distancesTo } = findDistanceTable(tokens);
  const biasFor = cacheLast(bias);
  const gap = (j: number) => (j >= size ? COMMON.longPause : pauseBefore(tokens, j));
  const join = Float64Array.from({ length: size + 1 }, (_, j) =>
    gap(j) >= COMMON.minDuration || repeated[j - 1] !== repeated[j] ? 0 : SCRIPT.fluentJoinCost,
  );
  const none = new Float32Array(size);
  const leftOut = Float64Array.from(repeated, (isRepeated) => (isRepeated || !isAligned ? 0 : SCRIPT.leftOutCost));

  return ({ word, line, first, last, optional, bounds: { from, to } }, before, after, steps) => {
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
      let lowest = keptBefore[j]! + SCRIPT.lostWordCost;
      let keptStep = LOST;
      if (j > from) {
        const distance = distances[ids[j - 1]!]!;
        const cost = (optional && distance > 0 ? distance + SCRIPT.lostWordCost : distance) + tokenBias[j - 1]!;
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
        const more = kept[j - 1]! + SCRIPT.keptWordCost - leftOut[j - 1]!;
        if (more < lowest) {
          lowest = more;
          keptStep = EXTRA;
        }
      }
      kept[j] = lowest;
      let skip = skippingBefore[j]! + SCRIPT.lostWordCost;
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
      steps[j - from] = keptStep | (skipStep << SKIP_SHIFT);
    }
  };
}

/** Extends the cells of a row to `from` to `to`. Cells before the computed ones are unreachable. */
function extendRow(row: CostRow, from: number, to: number): void {
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

/** Returns the worth of each word of an accepted candidate; `rank` counts the earlier accepted ones of its line. */
export const worthOf = (candidate: LineCandidate, rank: number): number => takeWorth(candidate.quality, rank);

/**
 * Returns the bias of the path that follows from the candidates. Where the line is spoken, it compensates the cost of
 * words that the recognizer misspelled, so that takes are compared by their audio.
 */
export function createLineBias(candidates: readonly LineCandidate[][], tokenCount: number): LineBias {
  return (line) => {
    const row = candidates[line];
    if (!row || row.length === 0) return null;
    const accepted = row.filter((one) => one.accepted);
    const isSpoken = accepted.length > 0;
    const takes = isSpoken ? accepted : findSimilarTakes(row);
    const bias = new Float32Array(tokenCount);
    for (const [rank, one] of takes.entries()) {
      const misspelled = (1 - one.score) * Math.min(1, one.pairs.length / (one.to - one.from));
      const worth = isSpoken ? worthOf(one, rank) : takeWorth(one.similarity, rank);
      bias.fill(-worth - misspelled, one.from, one.to);
    }
    return bias;
  };
}

/** Returns the takes of a line with no aligned candidate: the most similar ones. */
function findSimilarTakes(row: readonly LineCandidate[]): LineCandidate[] {
  const best = Math.max(...row.map((one) => one.similarity));
  return row.filter((one) => one.similarity >= Math.max(COMMON.minSameShare, best - SCRIPT.maxSimilarityLoss));
}

/** Returns where each line may be, given the sure candidates of the lines before and after it. */
export function findLineBounds(
  lines: readonly ScriptLine[],
  candidates: readonly LineCandidate[][],
  tokenCount: number,
): LineBoundsOf {
  const cells = lines.reduce((sum, line) => sum + line.words.length, 0) * tokenCount;
  const whole = { from: 0, to: tokenCount };
  if (cells <= SCRIPT.minBoundedCells) return () => whole;
  const isSure = (one: LineCandidate) =>
    one.accepted && one.quality >= RETAKES.minSimilarShare && one.pairs.length >= COMMON.minSureMatchWords;
  const bounds = lines.map(() => ({ ...whole }));
  for (const one of findLongestChain(candidates.flat().filter(isSure))) {
    for (let i = one.line; i < lines.length; i++)
      bounds[i]!.from = Math.max(bounds[i]!.from, one.from - SCRIPT.marginWords);
    for (let i = one.line; i >= 0; i--) bounds[i]!.to = Math.min(bounds[i]!.to, one.to + SCRIPT.marginWords);
  }
  return (line) => bounds[line]!;
}

/** Returns the candidates with the most words that are in order both in the script and in time. */
function findLongestChain(candidates: LineCandidate[]): LineCandidate[] {
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
