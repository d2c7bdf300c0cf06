/** Shares one worker between owners by the time each has had: whoever had the least comes next. Plain bookkeeping, without a clock. */

export type FairShares = {
  /**
   * An owner without work gets some; `present` are the others that have work. Time that passed without work is not saved up: a newcomer is
   * one quantum ahead of the others, so that it is served at once.
   */
  enter(owner: string, present: Iterable<string>): void;
  /** Adds time that the owner has had. */
  charge(owner: string, ms: number): void;
  /** Returns the owner that comes next; null when there is none. The first of equals. */
  next(owners: Iterable<string>): string | null;
  /** Returns how long the owner may go on before one of those waiting comes next; not above 0: it should yield now; infinite when nobody waits. */
  remainingMs(owner: string, waiting: Iterable<string>): number;
};

/** `quantumMs`: how far an owner may get ahead of another. */
export function createFairShare(quantumMs: number): FairShares {
  const used = new Map<string, number>();
  const least = (owners: Iterable<string>): number => {
    let lowest = Number.POSITIVE_INFINITY;
    for (const owner of owners) lowest = Math.min(lowest, used.get(owner) ?? 0);
    return lowest;
  };
  return {
    enter(owner, present) {
      const floor = least(present) - quantumMs;
      if (floor === Number.POSITIVE_INFINITY) used.clear();
      // Who is further behind than a newcomer would be has nothing to lose by being forgotten.
      for (const [known, ms] of used) if (ms <= floor && known !== owner) used.delete(known);
      used.set(owner, Math.max(used.get(owner) ?? Number.NEGATIVE_INFINITY, Number.isFinite(floor) ? floor : 0));
    },
    charge(owner, ms) {
      used.set(owner, (used.get(owner) ?? 0) + ms);
    },
    next(owners) {
      let first: string | null = null;
      for (const owner of owners) if (first === null || (used.get(owner) ?? 0) < (used.get(first) ?? 0)) first = owner;
      return first;
    },
    remainingMs: (owner, waiting) => least(waiting) + quantumMs - (used.get(owner) ?? 0),
  };
}
