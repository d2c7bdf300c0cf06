/** When each worker was last seen, by the head's monotonic clock: the only measure of whether a worker is alive. */

export const HEARTBEAT_MS = 1_000;
/** A worker without a heartbeat for this long is offline, and has lost what it ran. */
export const LOST_AFTER_MS = 15_000;
/** A worker without a heartbeat for this long gets nothing new. */
const MAX_SILENCE_MS = 4_000;

/** `clock` in milliseconds. */
export function createWorkerContact(clock: () => number) {
  const seenAt = new Map<string, number>();
  const getSilence = (workerId: string) => clock() - (seenAt.get(workerId) ?? Number.NEGATIVE_INFINITY);
  return {
    record: (workerId: string) => void seenAt.set(workerId, clock()),
    forget: (workerId: string) => void seenAt.delete(workerId),
    /** Returns whether it was seen within `LOST_AFTER_MS`. */
    isConnected: (workerId: string) => getSilence(workerId) < LOST_AFTER_MS,
    /** Returns whether a worker that was seen before has been silent lately. */
    isSilent: (workerId: string) => seenAt.has(workerId) && getSilence(workerId) >= MAX_SILENCE_MS,
    /** Allows for a time in which this process was suspended and saw nothing. */
    postpone: (milliseconds: number) => {
      for (const [workerId, at] of seenAt) seenAt.set(workerId, at + milliseconds);
    },
  };
}

export type WorkerContact = ReturnType<typeof createWorkerContact>;
