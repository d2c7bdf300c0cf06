/** When each worker was last seen, by the head's monotonic clock: the only measure of whether a worker is alive. */

/** How often a worker sends a heartbeat. */
export const HEARTBEAT_MS = 1_000;
/** A worker without a heartbeat for this long is offline, and has lost what it ran. */
export const LOST_AFTER_MS = 15_000;
/** A worker without a heartbeat for this long gets nothing new. */
const MAX_SILENCE_MS = 4_000;

export type WorkerContact = {
  /** Records that a worker was seen. */
  record(workerId: string): void;
  forget(workerId: string): void;
  /** Returns whether it was seen within `LOST_AFTER_MS`. */
  isConnected(workerId: string): boolean;
  /** Returns whether a worker that was seen before has been silent lately. */
  isSilent(workerId: string): boolean;
  /** Allows for a time in which this process was suspended and saw nothing. */
  postpone(milliseconds: number): void;
};

/** `clock` in milliseconds. */
export function createWorkerContact(clock: () => number): WorkerContact {
  const seenAt = new Map<string, number>();
  const getSilence = (workerId: string) => clock() - (seenAt.get(workerId) ?? Number.NEGATIVE_INFINITY);
  return {
    record: (workerId) => void seenAt.set(workerId, clock()),
    forget: (workerId) => void seenAt.delete(workerId),
    isConnected: (workerId) => getSilence(workerId) < LOST_AFTER_MS,
    isSilent: (workerId) => seenAt.has(workerId) && getSilence(workerId) >= MAX_SILENCE_MS,
    postpone: (milliseconds) => {
      for (const [workerId, at] of seenAt) seenAt.set(workerId, at + milliseconds);
    },
  };
}
