/** Runs a task when it is woken and when its next time has come, but never twice at once. */

const MAX_POLL_MS = 30_000;
const WAKE_DELAY_MS = 10;
const ERROR_DELAY_MS = 1_000;

/** Creates a poller. `poll` returns the milliseconds until its next run; null waits until it is woken, at most 30 s. */
export function createPoller(poll: () => Promise<number | null>, onError: (error: unknown) => void) {
  const stopping = new AbortController();
  let isStopped = true;
  let running: Promise<void> | null = null;
  let isRequested = false;
  let timer: Timer | undefined;
  let wakeTimer: Timer | null = null;

  async function run(): Promise<void> {
    let delay: number | null = null;
    do {
      isRequested = false;
      delay = await poll();
    } while (isRequested && !isStopped);
    schedule(Math.min(MAX_POLL_MS, Math.max(0, delay ?? MAX_POLL_MS)));
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(wake, delayMs);
  }

  function runNow(): void {
    if (isStopped) return;
    isRequested = true;
    running ??= run()
      .catch((error) => {
        onError(error);
        isRequested = false;
        schedule(ERROR_DELAY_MS);
      })
      .finally(() => {
        running = null;
        if (isRequested) runNow();
      });
  }

  function wake(): void {
    wakeTimer ??= setTimeout(() => {
      wakeTimer = null;
      runNow();
    }, WAKE_DELAY_MS);
  }

  return {
    start: (): void => {
      isStopped = false;
      wake();
    },
    /** Runs the task soon. Several calls share a run. A call during a run starts another one afterward. */
    wake,
    get isStopped() {
      return isStopped;
    },
    /** Aborted by `stop`. */
    signal: stopping.signal,
    /** Resolves when the task is no longer running. */
    stop: async (): Promise<void> => {
      isStopped = true;
      stopping.abort(new Error("The server stops."));
      clearTimeout(timer);
      if (wakeTimer) clearTimeout(wakeTimer);
      wakeTimer = null;
      await running;
    },
  };
}

export type Poller = ReturnType<typeof createPoller>;
