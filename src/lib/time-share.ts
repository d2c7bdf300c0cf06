/**
 * Shares of a resource by key, in seconds of use. A share grows over time, and use beyond it is repaid before more is
 * granted.
 */

export type TimeShareLimits = {
  /** Seconds of use that a key gets for each second. */
  rate: number;
  /** Maximum seconds of use that a key saves. */
  burst: number;
};

/** Shares that are full again are removed whenever this many have been added. */
const SWEEP_EVERY_KEYS = 1_000;

/** Creates the shares, all of them full. `now` is in milliseconds. */
export function createTimeShare({ rate, burst }: TimeShareLimits) {
  const shares = new Map<string, { left: number; at: number }>();
  let sweepAt = SWEEP_EVERY_KEYS;

  function readLeft(key: string, now: number): number {
    const known = shares.get(key);
    return known === undefined ? burst : Math.min(burst, known.left + (Math.max(0, now - known.at) / 1000) * rate);
  }

  function sweep(now: number): void {
    for (const key of shares.keys()) if (readLeft(key, now) >= burst) shares.delete(key);
    sweepAt = shares.size + SWEEP_EVERY_KEYS;
  }

  return {
    hasLeft: (key: string, now: number): boolean => readLeft(key, now) > 0,
    /** Takes seconds from the share, or returns negative ones to it. */
    spend: (key: string, seconds: number, now: number): void => {
      shares.set(key, { left: Math.min(burst, readLeft(key, now) - seconds), at: now });
      if (shares.size > sweepAt) sweep(now);
    },
  };
}
