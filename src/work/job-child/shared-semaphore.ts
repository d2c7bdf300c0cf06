/** Shares a semaphore with a child process, which acquires and releases permits by callbacks. */
import type { Semaphore } from "../../lib/semaphore";

/**
 * Returns the callbacks for a call of the child. `releaseAll` releases the permits that the child still holds when the
 * call has ended.
 */
export function shareSemaphore(semaphore: Semaphore) {
  const held = new Map<number, () => void>();
  let next = 1;
  const acquirePermit = (_: null, signal: AbortSignal): Promise<number> =>
    new Promise((resolve, reject) => {
      const permit = next++;
      const hold = () =>
        new Promise<void>((release) => {
          if (signal.aborted) return release();
          held.set(permit, release);
          resolve(permit);
        });
      semaphore.run(signal, hold).catch(reject);
    });
  const releasePermit = async (permit: number): Promise<null> => {
    held.get(permit)?.();
    held.delete(permit);
    return null;
  };
  return {
    callbacks: { acquirePermit, releasePermit },
    releaseAll: () => {
      for (const release of held.values()) release();
      held.clear();
    },
  };
}
