/** The lock of an upload: one request at a time writes to its file. */
import { conflict } from "../../domain/errors";

/** A client resumes with one request; the others are not needed. */
const MAX_WAITING = 4;
const MAX_WAIT_MS = 30_000;

/** Asks the holder to release the lock soon. Returns false if it refuses. */
export type RequestRelease = () => boolean;

type WaitingRequest = { requestRelease: RequestRelease; start(): void };

const createBusyError = () => conflict("Another request is sending to this upload.");

/** Creates a lock that serves waiting requests in order. */
export function createUploadLock() {
  let holder: RequestRelease | null = null;
  const waiting: WaitingRequest[] = [];

  function release(): void {
    const next = waiting.shift();
    holder = next?.requestRelease ?? null;
    next?.start();
  }

  /** Resolves when the request gets the lock. */
  async function wait(requestRelease: RequestRelease, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: WaitingRequest = { requestRelease, start: resolve };
    const leave = () => {
      const at = waiting.indexOf(entry);
      if (at < 0) return;
      waiting.splice(at, 1);
      reject(createBusyError());
    };
    waiting.push(entry);
    const timer = setTimeout(leave, MAX_WAIT_MS);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
    }
  }

  return {
    /**
     * Asks the holder to release the lock, waits for it, and returns the function that releases it again. Throws
     * `AppError` `conflict` when the holder refuses, when too many requests wait, after 30 seconds, and when the signal
     * is aborted.
     */
    acquire: async (requestRelease: RequestRelease, signal?: AbortSignal) => {
      if (holder === null) holder = requestRelease;
      else {
        if (waiting.length >= MAX_WAITING || signal?.aborted || !holder()) throw createBusyError();
        await wait(requestRelease, signal);
      }
      return release;
    },
  };
}
