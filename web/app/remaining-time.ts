/** Estimates the remaining time of work that reports its progress. Uses the clock of this browser, because that of the server may differ. Pure. */

export type RemainingTime = {
  /** Takes a progress from 0 to 1 at a time in milliseconds, and returns the remaining seconds; null while that is unknown. */
  update(id: string, progress: number, now: number): number | null;
};

const MIN_PROGRESS = 0.01;
const MIN_ELAPSED_MS = 1_500;

export function createRemainingTime(): RemainingTime {
  const first = new Map<string, { progress: number; at: number }>();
  return {
    update: (id, progress, now) => {
      const seen = first.get(id);
      // A job that starts again begins with less.
      if (seen === undefined || progress < seen.progress) {
        first.set(id, { progress, at: now });
        return null;
      }
      const [done, elapsed] = [progress - seen.progress, now - seen.at];
      if (done < MIN_PROGRESS || elapsed < MIN_ELAPSED_MS) return null;
      return ((1 - progress) * elapsed) / done / 1000;
    },
  };
}
