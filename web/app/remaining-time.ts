/**
 * Estimates the remaining time of a job from its progress. Uses the browser's clock, because the server's may differ.
 * Pure.
 */

export type RemainingTime = {
  /** Takes the progress from 0 to 1 at a time in milliseconds. Returns the remaining seconds; null while unknown. */
  update(id: string, progress: number, now: number): number | null;
};

const MIN_PROGRESS = 0.01;
const MIN_ELAPSED_MS = 1_500;

export function createRemainingTime(): RemainingTime {
  const first = new Map<string, { progress: number; at: number }>();
  return {
    update: (id, progress, now) => {
      const seen = first.get(id);
      // A restarted job begins with less progress.
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
