/** Limits how often something may happen per key within a sliding window. */

/** Expired keys are removed whenever this many have been added. */
const SWEEP_EVERY_KEYS = 10_000;
/** Maximum number of keys, which bounds the memory. Beyond it, the oldest keys are dropped. */
const MAX_KEYS = 100_000;

/** Creates a limit of `max` occurrences in `windowMs` milliseconds. */
export function createWindowLimit(max: number, windowMs: number) {
  /** The times of the latest occurrences, oldest first, at most `max`. */
  const times = new Map<string, number[]>();
  let sweepAt = SWEEP_EVERY_KEYS;

  const isExpired = (time: number, now: number) => time + windowMs <= now;

  function sweep(now: number): void {
    for (const [key, known] of times) {
      if (isExpired(known.at(-1)!, now) || times.size > MAX_KEYS) times.delete(key);
    }
    sweepAt = times.size + SWEEP_EVERY_KEYS;
  }

  return {
    /** Returns the milliseconds until the key may act again; 0 if it may act now. */
    waitMs: (key: string, now: number): number => {
      const known = times.get(key);
      // After `max` occurrences, the oldest must leave the window first.
      return known && known.length >= max ? Math.max(0, known[0]! + windowMs - now) : 0;
    },
    /** Counts an occurrence. */
    add: (key: string, now: number): void => {
      const known = (times.get(key) ?? []).filter((time) => !isExpired(time, now));
      known.push(now);
      times.set(key, known.slice(-max));
      if (times.size > sweepAt) sweep(now);
    },
    clear: (key: string): void => void times.delete(key),
  };
}

export type WindowLimit = ReturnType<typeof createWindowLimit>;
