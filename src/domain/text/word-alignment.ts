/** Two texts word against word. */

/** `pairs[i]` is the word of the second text that stands for the first's word i, -1 when none does; `cost` counts what differs. */
export type WordAlignment = { pairs: Int32Array; cost: number };

const LEFT_OUT = 1;
const ADDED = 0.7;

/**
 * Aligns `a` with `b`; `near` is 0 for the same word to 1 for another. With `openEnd` what is left of `b` at its end costs nothing. A word
 * of `a` that is not in `b` costs 0.7, one of `b` that is not in `a` 1.
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
      if (i === 0 || j === 0) cost[i * width + j] = i * ADDED + j * LEFT_OUT;
      else
        cost[i * width + j] = Math.min(
          cost[(i - 1) * width + j - 1]! + distanceBetween(a[i - 1]!, b[j - 1]!),
          cost[(i - 1) * width + j]! + ADDED,
          cost[i * width + j - 1]! + LEFT_OUT,
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
    } else if (Math.abs(here - cost[(i - 1) * width + j]! - ADDED) < 1e-9) i--;
    else j--;
  }
  return { pairs, cost: total };
}
