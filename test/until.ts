/** Waiting for something that happens elsewhere, with a deadline instead of a guess. */

const LOOK_EVERY_MS = 20;
const MAX_LOOK_EVERY_MS = 200;
/** Interval between checks, as a share of the time waited so far. */
const LOOK_EVERY_SHARE = 0.05;

/**
 * Polls until `look` returns a value other than null, undefined or false. Throws when the time is over; `what` names
 * the condition for the error message. `isLasting`: the condition stays true, so it is checked less often the longer it
 * takes.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  deadlineSeconds = 60,
  isLasting = false,
): Promise<T> {
  const start = performance.now();
  const end = start + deadlineSeconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    const now = performance.now();
    if (now > end) throw new Error(`${what}: not within ${deadlineSeconds} s`);
    const pauseMs = isLasting ? Math.min(MAX_LOOK_EVERY_MS, LOOK_EVERY_SHARE * (now - start)) : 0;
    await Bun.sleep(Math.max(LOOK_EVERY_MS, pauseMs));
  }
}
