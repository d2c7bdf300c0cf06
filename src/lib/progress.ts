/** Reports of progress. */

/**
 * Returns a function that forwards shares of at most 1 that have increased, no more often than `intervalMs` before the
 * last one.
 */
export function createIncreasingProgress(report: (share: number) => void, intervalMs = 0): (share: number) => void {
  let highest = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (share) => {
    const next = Math.min(1, share);
    const now = performance.now();
    if (next <= highest || (next < 1 && now - reportedAt < intervalMs)) return;
    [highest, reportedAt] = [next, now];
    report(next);
  };
}
