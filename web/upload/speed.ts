/** The speed of a transfer over the last seconds. Pure. */

const WINDOW_MS = 8_000;
const MIN_WINDOW_MS = 500;

export type SpeedMeter = {
  /** Records how much was sent at a time in milliseconds. Returns bytes per second, null until there is enough to tell. */
  add(sentBytes: number, nowMs: number): number | null;
};

export function createSpeedMeter(): SpeedMeter {
  let samples: { sentBytes: number; atMs: number }[] = [];
  return {
    add: (sentBytes, atMs) => {
      const last = samples.at(-1);
      // A transfer that continues after an error may start below what was sent before.
      if (last && sentBytes < last.sentBytes) samples = [];
      samples.push({ sentBytes, atMs });
      samples = samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
      const first = samples[0]!;
      const elapsedMs = atMs - first.atMs;
      return elapsedMs < MIN_WINDOW_MS ? null : ((sentBytes - first.sentBytes) * 1000) / elapsedMs;
    },
  };
}
