/** Doing several things at a time: tasks side by side, all of them ended whatever happens; long loops that let others in. */

/** Lets timers and requests run; a loop over what is already there would hold them up to its end. */
export const letOthersRun = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs numbered tasks, `width` at a time. The first failure aborts the others' signal; nothing runs any more when this returns or throws. */
export async function inParallel(
  count: number,
  width: number,
  outer: AbortSignal | undefined,
  run: (n: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const failures: unknown[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count && failures.length === 0) {
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
}
