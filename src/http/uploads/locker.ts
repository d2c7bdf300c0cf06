/**
 * Locks uploads, so that one request at a time writes to an upload. The library's own locker polls without pause while a request waits and
 * keeps the memory of every poll until the wait ends: a few requests took a gigabyte.
 */
import type { Lock, Locker, RequestRelease } from "@tus/server";

/** A client resumes with one request; the others are not needed. */
const MAX_WAITING_PER_UPLOAD = 4;
const MAX_WAIT_MS = 30_000;

type WaitingRequest = { requestRelease: RequestRelease; start(): void };
type HeldLock = { requestRelease: RequestRelease; waiting: WaitingRequest[] };

/** Returns the error of the TUS library for a locked upload. */
const createBusyError = () => ({ status_code: 409, body: "Another request is sending to this upload." });

/** Creates locks by upload ID. A waiting request asks the holder of the lock to release it. */
export function createLocker(): Locker {
  const uploads = new Map<string, HeldLock>();

  async function lock(id: string, signal: AbortSignal, requestRelease: RequestRelease): Promise<void> {
    const held = uploads.get(id);
    if (held === undefined) {
      uploads.set(id, { requestRelease, waiting: [] });
      return;
    }
    if (held.waiting.length >= MAX_WAITING_PER_UPLOAD || signal.aborted) throw createBusyError();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: WaitingRequest = { requestRelease, start: resolve };
    const leave = () => {
      const at = held.waiting.indexOf(waiter);
      if (at < 0) return;
      held.waiting.splice(at, 1);
      reject(createBusyError());
    };
    held.waiting.push(waiter);
    const timer = setTimeout(leave, MAX_WAIT_MS);
    signal.addEventListener("abort", leave, { once: true });
    try {
      void held.requestRelease();
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    }
  }

  async function unlock(id: string): Promise<void> {
    const held = uploads.get(id);
    const next = held?.waiting.shift();
    if (held === undefined || next === undefined) {
      uploads.delete(id);
      return;
    }
    held.requestRelease = next.requestRelease;
    next.start();
  }

  return {
    newLock: (id): Lock => ({
      lock: (signal, requestRelease) => lock(id, signal, requestRelease),
      unlock: () => unlock(id),
    }),
  };
}
