/**
 * Runs tasks at the same time, and returns their results. The first error aborts the signal of the other tasks; none
 * runs when the promise settles. Errors: the reason of `outer`; the first error.
 */
export async function runTogether<T>(
  outer: AbortSignal | undefined,
  tasks: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<T[]> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const running = tasks.map(async (run) => {
    try {
      signal.throwIfAborted();
      return await run(signal);
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(running);
  outer?.throwIfAborted();
  stop.signal.throwIfAborted();
  return Promise.all(running);
}
