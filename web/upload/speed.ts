/** Measures the recent speed of a transfer. Pure. */

const WINDOW_MS = 8_000;
const MIN_WINDOW_MS = 500;

export type SpeedMeter = {
  /**
   * Records the number of sent bytes at a time in milliseconds. Returns bytes per second; null until there are enough
   * samples.
   */
  add(sentBytes: number, nowMs: number): number | null;
};

export function createSpeedMeter(): SpeedMeter {
  let samples: { sentBytes: number; atMs: number }[] = [];
  return {
    add: (sentBytes, atMs) => {
      const last = samples.at(-1);
      // A transfer that resumes after an error may start at a lower offset.
      if (last && sentBytes < last.sentBytes) samples = [];
      samples.push({ sentBytes, atMs });
      samples = samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
      const first = samples[0]!;
      const elapsedMs = atMs - first.atMs;
      return elapsedMs < MIN_WINDOW_MS ? null : ((sentBytes - first.sentBytes) * 1000) / elapsedMs;
    },
  };
}
