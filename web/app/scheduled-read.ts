/** Reads that frequent events trigger. */

type ScheduledRead = { schedule(): void; stop(): void };

/**
 * Returns a function that starts a read `delayMs` after its first call. Calls in between share the read. A read that is
 * still running is aborted when the next one starts.
 */
export function createScheduledRead(read: (signal: AbortSignal) => Promise<void>, delayMs: number): ScheduledRead {
  let stopping = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    schedule: () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        stopping.abort();
        stopping = new AbortController();
        void read(stopping.signal);
      }, delayMs);
    },
    stop: () => {
      clearTimeout(timer);
      stopping.abort();
    },
  };
}
