/** Waiting for something that happens elsewhere, with a deadline instead of a guess. */

const LOOK_EVERY_MS = 20;

/**
 * Polls until `look` returns a value other than null, undefined or false. Throws when the time is over; `what` says
 * what was waited for.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  deadlineSeconds = 60,
): Promise<T> {
  const end = performance.now() + deadlineSeconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`${what}: not within ${deadlineSeconds} s`);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}
