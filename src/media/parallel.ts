/** Runs numbered tasks in parallel. */

/** Thrown when some tasks were not started because the caller asked to yield. Every started task is complete. */
export class RenderYielded extends Error {
  constructor() {
    super("The render yielded between two tasks.");
    this.name = "RenderYielded";
  }
}

/**
 * Runs numbered tasks, `width` at a time. The first failure aborts the signal of the others. No task is running when
 * the promise settles. Errors: the first failure; the signal's reason; `RenderYielded` if `shouldYield` returned true
 * before the last task was started.
 */
export async function runParallel(
  count: number,
  width: number,
  outerSignal: AbortSignal | undefined,
  run: (n: number, signal: AbortSignal) => Promise<void>,
  shouldYield: () => boolean = () => false,
): Promise<void> {
  const abortController = new AbortController();
  const signal =
    outerSignal === undefined ? abortController.signal : AbortSignal.any([outerSignal, abortController.signal]);
  const failures: unknown[] = [];
  let next = 0;
  const runTasks = async () => {
    while (next < count && failures.length === 0 && !shouldYield()) {
      const n = next++;
      try {
        signal.throwIfAborted();
        await run(n, signal);
      } catch (error) {
        failures.push(error);
        abortController.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(width, count)) }, runTasks));
  outerSignal?.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  if (next < count) throw new RenderYielded();
}
