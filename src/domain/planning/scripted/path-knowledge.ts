/** Stage 6: derives the bias and bounds of the path search from the rated candidates of each line. */

import { RETAKES } from "../retakes/thresholds";
import { takeWorth } from "../take-list";
import { COMMON } from "../thresholds";
import type { LineBias, LineBoundsOf } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import type { ScriptLine } from "./script-lines";
import { SCRIPT } from "./thresholds";

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
    const bias = new Float32Array(tokenCount).fill(isSpoken ? SCRIPT.elsewhereCost : 0);
    for (const [rank, one] of takes.entries()) {
      const misspelled = (1 - one.score) * Math.min(1, one.pairs.length / (one.to - one.from));
      const worth = isSpoken ? worthOf(one, rank) : takeWorth(one.score, rank);
      bias.fill(-worth - misspelled, one.from, one.to);
    }
    return bias;
  };
}

/** Returns the takes of a line with no aligned candidate: the most similar ones. */
function findSimilarTakes(row: readonly LineCandidate[]): LineCandidate[] {
  const best = Math.max(...row.map((one) => one.score));
  return row.filter((one) => one.score >= Math.max(SCRIPT.minSpokenSimilarity, best - SCRIPT.maxSimilarityLoss));
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
