/** The lanes of the server, lent to a render in a child process: it asks for each one, and gives it back. */
import type { CallOptions } from "../../lib/child-protocol";
import type { Lanes } from "../../lib/lanes";

/** Answers to a child's `acquireLane` and `releaseLane`. `releaseAll` takes back what a child that has gone still had. */
export function lendLanes(lanes: Lanes): { answers: NonNullable<CallOptions["answers"]>; releaseAll(): void } {
  const lent = new Map<number, () => void>();
  let next = 1;
  const acquireLane = (_: null, signal: AbortSignal): Promise<number> =>
    new Promise((resolve, reject) => {
      const lane = next++;
      const hold = () =>
        new Promise<void>((release) => {
          if (signal.aborted) return release();
          lent.set(lane, release);
          resolve(lane);
        });
      lanes.use(signal, hold).catch(reject);
    });
  const releaseLane = async (lane: number): Promise<null> => {
    lent.get(lane)?.();
    lent.delete(lane);
    return null;
  };
  return {
    answers: { acquireLane, releaseLane },
    releaseAll: () => {
      for (const release of lent.values()) release();
      lent.clear();
    },
  };
}
