/** Computes the trend of a disk's free space from measurements of the last days. Pure. */
import { DAY_MS, HOUR_MS } from "./time";

/** A measurement. Times are in milliseconds since 1970. */
export type DiskSample = { takenAt: number; freeBytes: number };

/** Negative if the disk is filling up. */
export type DiskTrend = { bytesPerDay: number };

/** Measurements are taken this often. */
export const SAMPLE_INTERVAL_MS = HOUR_MS;
/** Older measurements do not reflect the current rate. */
export const SAMPLES_KEPT_MS = 7 * DAY_MS;
/** A single day with an import does not predict the days after it. */
const MIN_SPAN_MS = 2 * DAY_MS;
const MIN_SAMPLES = 12;

/**
 * Returns the slope of a line fitted through the measurements of the last 7 days (least squares). Returns null while
 * there are too few, and if the last day contradicts the line, because the disk has stopped filling up. Measurements
 * may be in any order; those in the future are ignored.
 */
export function findDiskTrend(samples: readonly DiskSample[], now: number): DiskTrend | null {
  const used = samples
    .filter(({ takenAt }) => takenAt <= now && now - takenAt <= SAMPLES_KEPT_MS)
    .sort((a, b) => a.takenAt - b.takenAt);
  const [first, last] = [used[0], used.at(-1)];
  if (first === undefined || last === undefined || used.length < MIN_SAMPLES) return null;
  if (last.takenAt - first.takenAt < MIN_SPAN_MS) return null;
  const bytesPerDay = fitSlope(used.map(({ takenAt, freeBytes }) => [(takenAt - first.takenAt) / DAY_MS, freeBytes]));
  const dayBefore = used.findLast(({ takenAt }) => last.takenAt - takenAt >= DAY_MS) ?? first;
  const hasStopped = bytesPerDay < 0 && last.freeBytes >= dayBefore.freeBytes;
  return hasStopped ? null : { bytesPerDay };
}

/** Returns the slope of the least-squares line through points that have at least two different x values. */
function fitSlope(points: readonly (readonly [number, number])[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  let [products, squares] = [0, 0];
  for (const [x, y] of points) {
    products += (x - meanX) * (y - meanY);
    squares += (x - meanX) ** 2;
  }
  return products / squares;
}
