/** A fixed number of lanes for heavy work, whoever does it: first come, first served. */

export type Semaphore = {
  /**
   * Runs `work` when a lane is free. Errors: those of `work`; the signal's reason when aborted while it waits, and then `work` was not begun.
   */
  run<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result>;
};

/** Lanes for `count` works at a time. */
export function createSemaphore(count: number): Semaphore {
  let free = count;
  const waiting: { begin(): void }[] = [];

  const turn = (signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    if (free > 0) {
      free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const give = () => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal!.reason);
      };
      const entry = {
        begin: () => {
          signal?.removeEventListener("abort", give);
          resolve();
        },
      };
      waiting.push(entry);
      signal?.addEventListener("abort", give, { once: true });
    });
  };

  return {
    async run(signal, work) {
      await turn(signal);
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free++;
        else next.begin();
      }
    },
  };
}
