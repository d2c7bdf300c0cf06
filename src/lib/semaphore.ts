/** A semaphore that serves callers in order. */

/** Returns a semaphore with `count` permits. */
export function createSemaphore(count: number) {
  let free = count;
  const waiting: { start(): void }[] = [];

  const acquire = (signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    if (free > 0) {
      free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal!.reason);
      };
      const entry = {
        start: () => {
          signal?.removeEventListener("abort", leaveQueue);
          resolve();
        },
      };
      waiting.push(entry);
      signal?.addEventListener("abort", leaveQueue, { once: true });
    });
  };

  return {
    /**
     * Runs `work` with a permit, waiting for one if necessary. Throws the errors of `work`, or the signal's reason if
     * it aborts while waiting, in which case `work` was not started.
     */
    async run<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
      await acquire(signal);
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free++;
        else next.start();
      }
    },
  };
}

export type Semaphore = ReturnType<typeof createSemaphore>;
