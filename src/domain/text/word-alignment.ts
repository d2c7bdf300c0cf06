/** Alignment of two texts, word by word. */

/** `pairs[i]` is the second text's word that matches word i of the first, or -1. `cost` counts the differences. */
export type WordAlignment = { pairs: Int32Array; cost: number };

const ADDED_WORD_COST = 1;
const MISSING_WORD_COST = 0.7;

/**
 * Aligns `a` with `b`. `distanceBetween` returns 0 for the same word to 1 for different words. A word of `a` that is
 * missing in `b` costs 0.7, an extra word in `b` costs 1; with `openEnd`, extra words at the end of `b` are free.
 */
export function alignWords(
  a: readonly string[],
  b: readonly string[],
  distanceBetween: (x: string, y: string) => number,
  openEnd = false,
): WordAlignment {
  const width = b.length + 1;
  const cost = new Float64Array((a.length + 1) * width);
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      if (i === 0 || j === 0) cost[i * width + j] = i * MISSING_WORD_COST + j * ADDED_WORD_COST;
      else
        cost[i * width + j] = Math.min(
          cost[(i - 1) * width + j - 1]! + distanceBetween(a[i - 1]!, b[j - 1]!),
          cost[(i - 1) * width + j]! + MISSING_WORD_COST,
          cost[i * width + j - 1]! + ADDED_WORD_COST,
        );
    }
  }
  const last = cost.subarray(a.length * width);
  let j = openEnd ? last.indexOf(Math.min(...last)) : b.length;
  const total = cost[a.length * width + j]!;
  const pairs = new Int32Array(a.length).fill(-1);
  let i = a.length;
  while (i > 0 && j > 0) {
    const here = cost[i * width + j]!;
    const distance = distanceBetween(a[i - 1]!, b[j - 1]!);
    if (Math.abs(here - cost[(i - 1) * width + j - 1]! - distance) < 1e-9) {
      i--;
      j--;
      if (distance < 1) pairs[i] = j;
    } else if (Math.abs(here - cost[(i - 1) * width + j]! - MISSING_WORD_COST) < 1e-9) i--;
    else j--;
  }
  return { pairs, cost: total };
}
