/** The semaphore of the server, held to a render in a child process: it asks for each one, and gives it back. */
import type { CallOptions } from "../../lib/ipc-calls";
import type { Semaphore } from "../../lib/semaphore";

/** Answers to a child's `acquirePermit` and `releasePermit`. `releaseAll` takes back what a child that has gone still had. */
export function shareSemaphore(semaphore: Semaphore): {
  callbacks: NonNullable<CallOptions["callbacks"]>;
  releaseAll(): void;
} {
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
