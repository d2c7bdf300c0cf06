/** Doing several things at a time: tasks side by side, all of them ended whatever happens; long loops that let others in. */

/** Lets timers and requests run; a loop over what is already there would hold them up to its end. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What is left was not begun, because the caller asked for a pause; what had been begun is done. */
export class RenderYielded extends Error {
  constructor() {
    super("paused between two tasks");
    this.name = "Paused";
  }
}

/**
 * Runs numbered tasks, `width` at a time. The first failure aborts the others' signal; nothing runs any more when this returns or throws.
 * Errors: the first failure; the signal's reason; `Paused` when `shouldPause` came true before the last task was begun.
 */
export async function runParallel(
  count: number,
  width: number,
  outer: AbortSignal | undefined,
  run: (n: number, signal: AbortSignal) => Promise<void>,
  shouldYield: () => boolean = () => false,
): Promise<void> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const failures: unknown[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count && failures.length === 0 && !shouldYield()) {
      const n = next++;
      try {
        signal.throwIfAborted();
        await run(n, signal);
      } catch (error) {
        failures.push(error);
        stop.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(width, count)) }, worker));
  outer?.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  if (next < count) throw new RenderYielded();
}
