/** Schedules a resource fairly: the owner that has used the least time is next. Keeps the books, without a clock. */

/** Creates the scheduler. `quantumMs` is the maximum lead of one owner over another. */
export function createFairScheduler(quantumMs: number) {
  const used = new Map<string, number>();
  const findLowestUse = (owners: Iterable<string>): number => {
    let lowest = Number.POSITIVE_INFINITY;
    for (const owner of owners) lowest = Math.min(lowest, used.get(owner) ?? 0);
    return lowest;
  };
  return {
    /**
     * Adds an owner that had no work before; `present` are the other owners with work. Idle time is not saved up: a new
     * owner gets a credit of one quantum over the others, so that it is served immediately.
     */
    enter(owner: string, present: Iterable<string>): void {
      const floor = findLowestUse(present) - quantumMs;
      if (floor === Number.POSITIVE_INFINITY) used.clear();
      // Removing an owner that is further behind than a new one would be does not put it at a disadvantage.
      for (const [known, ms] of used) if (ms <= floor && known !== owner) used.delete(known);
      used.set(owner, Math.max(used.get(owner) ?? Number.NEGATIVE_INFINITY, Number.isFinite(floor) ? floor : 0));
    },
    charge(owner: string, ms: number): void {
      used.set(owner, (used.get(owner) ?? 0) + ms);
    },
    /** Returns the next owner (the first among equals), or null. */
    next(owners: Iterable<string>): string | null {
      let first: string | null = null;
      for (const owner of owners) if (first === null || (used.get(owner) ?? 0) < (used.get(first) ?? 0)) first = owner;
      return first;
    },
    /**
     * Returns how long the owner may continue before one of the waiting owners is next. If the result is 0 or less, the
     * owner should yield now. It is infinite if no owner waits.
     */
    remainingMs: (owner: string, waiting: Iterable<string>): number =>
      findLowestUse(waiting) + quantumMs - (used.get(owner) ?? 0),
  };
}

export type FairScheduler = ReturnType<typeof createFairScheduler>;
