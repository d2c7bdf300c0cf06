/** Waits, and decides when to send a failed call again. */
import { ApiError } from "./api";

/** Delays that cover a server restart or a laptop waking up. The last one repeats. */
export const RETRY_DELAYS_MS = [0, 1_000, 3_000, 5_000, 10_000, 20_000];

const OFFLINE_DELAY_MS = 3_000;

/** Waits. Rejects with the signal's reason when it is aborted. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onStop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onStop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onStop, { once: true });
  });

/** Returns how long to wait before the same call again; null if it would fail again. */
export function findRetryMs(error: unknown): number | null {
  if (!(error instanceof ApiError)) return null;
  if (error.status === 429 || error.status === 503) return Math.max(1, error.retryAfterSeconds ?? 1) * 1000;
  return error.code === "offline" ? OFFLINE_DELAY_MS : null;
}
