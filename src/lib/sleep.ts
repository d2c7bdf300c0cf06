/** Waiting that can be aborted. */

/**
 * Resolves after `milliseconds`, at the earliest in the next turn of the event loop. Rejects with the signal's reason.
 */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const end = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, milliseconds));
    signal.addEventListener("abort", stop, { once: true });
  });
}
