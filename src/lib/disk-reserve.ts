/** Free space that is left alone: what may grow without bound asks here before it writes. */
import { statfsSync } from "node:fs";

export type DiskReserve = {
  /** Returns the bytes that may be written now: what is free above the reserve, at least 0. */
  availableBytes(): number;
  /** Whether three quarters of the reserve are gone: what is left is for what must be written. */
  isCritical(): boolean;
  /** Returns how large a file that a child process writes may become: half of the reserve is beyond its reach. */
  maxFileBytes(): number;
  /** Counts bytes that are about to be written; false when they do not fit above the reserve. All writers share the same room. */
  claim(bytes: number): boolean;
};

/** The file system is asked again after so many bytes or milliseconds: other programs write as well. */
const MAX_UNMEASURED_BYTES = 16 * 1024 * 1024;
const MAX_MEASURE_AGE_MS = 250;
const MIN_CHILD_FILE_BYTES = 1024 * 1024;

/** Keeps `reserveBytes` free on the file system of `folder`. `freeBytes` is replaced in tests. */
export function createDiskReserve(
  folder: string,
  reserveBytes: number,
  freeBytes: (folder: string) => number = getFreeBytes,
): DiskReserve {
  let left = 0;
  let taken = Number.POSITIVE_INFINITY;
  let measuredAt = 0;

  function measure(): number {
    left = Math.max(0, freeBytes(folder) - reserveBytes);
    taken = 0;
    measuredAt = performance.now();
    return left;
  }

  return {
    availableBytes: measure,
    maxFileBytes: () => Math.max(MIN_CHILD_FILE_BYTES, freeBytes(folder) - reserveBytes / 2),
    isCritical: () => freeBytes(folder) < reserveBytes / 4,
    claim(bytes) {
      const isOld = taken > MAX_UNMEASURED_BYTES || performance.now() - measuredAt > MAX_MEASURE_AGE_MS;
      if (isOld || left < bytes) measure();
      if (left < bytes) return false;
      left -= bytes;
      taken += bytes;
      return true;
    },
  };
}

/** Returns the bytes that this process may still write on the file system of `folder`. */
export function getFreeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
