/** The disk reserve: free space that is never used up. Anything that can grow without bound claims space here first. */
import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";

/** Free space is measured again after this many bytes or milliseconds, because other programs also write. */
const MAX_UNMEASURED_BYTES = 16 * 1024 * 1024;
const MAX_MEASURE_AGE_MS = 250;
const MIN_CHILD_FILE_BYTES = 1024 * 1024;

/** Creates a reserve of `reserveBytes` on the file system of `folder`. Tests replace `freeBytes`. */
export function createDiskReserve(
  folder: string,
  reserveBytes: number,
  freeBytes: (folder: string) => number = getFreeBytes,
) {
  let left = 0;
  let taken = Number.POSITIVE_INFINITY;
  let measuredAt = 0;
  const listeners: (() => void)[] = [];

  function measure(): number {
    left = Math.max(0, freeBytes(folder) - reserveBytes);
    taken = 0;
    measuredAt = performance.now();
    return left;
  }

  return {
    /** Returns the free bytes above the reserve, at least 0. */
    availableBytes: measure,
    /** Returns the size limit for a file that a child process writes. It leaves half of the reserve free. */
    maxFileBytes: () => Math.max(MIN_CHILD_FILE_BYTES, freeBytes(folder) - reserveBytes / 2),
    /** Returns whether three quarters of the reserve are used: the rest is for writes that must not fail. */
    isCritical: () => freeBytes(folder) < reserveBytes / 4,
    /** Claims bytes before they are written. Returns false if they exceed the reserve. All writers share one budget. */
    claim(bytes: number): boolean {
      const isOld = taken > MAX_UNMEASURED_BYTES || performance.now() - measuredAt > MAX_MEASURE_AGE_MS;
      if (isOld || left < bytes) measure();
      if (left < bytes) {
        for (const listener of listeners) listener();
        return false;
      }
      left -= bytes;
      taken += bytes;
      return true;
    },
    /** Calls `listener` whenever a claim does not fit. */
    onShort: (listener: () => void): void => void listeners.push(listener),
  };
}

export type DiskReserve = ReturnType<typeof createDiskReserve>;

const countFreeBytes = ({ bavail, bsize }: { bavail: number; bsize: number }): number => bavail * bsize;

/** Returns the free bytes that this user may write on the file system of `folder`. */
export const getFreeBytes = (folder: string): number => countFreeBytes(statfsSync(folder));

export const readFreeBytes = async (folder: string): Promise<number> => countFreeBytes(await statfs(folder));
