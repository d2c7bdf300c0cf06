/**
 * Confirms that names have been old for a while, because the time of day may jump, also before a start, until it is
 * corrected.
 */

const CONFIRM_MS = 50 * 60_000;

/**
 * Returns, of all names that are old by the time of day, those that have been in each call for almost an hour by a
 * monotonic clock.
 */
export type ConfirmAges = (old: readonly string[]) => Set<string>;

/** Creates the memory of names. `clock`: milliseconds on a monotonic clock. */
export function createConfirmedAges(clock: () => number = () => performance.now()): ConfirmAges {
  let since = new Map<string, number>();
  return (old) => {
    const at = clock();
    since = new Map(old.map((name) => [name, since.get(name) ?? at]));
    return new Set(old.filter((name) => at - since.get(name)! >= CONFIRM_MS));
  };
}
