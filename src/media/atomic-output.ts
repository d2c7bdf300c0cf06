/** Output files that appear complete or not at all: they are written under a temporary name, then renamed. */
import { randomUUID } from "node:crypto";
import { rename, rm, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "../domain/errors";
import { createStorageFullError, toStorageError } from "../domain/storage-full";

/**
 * Calls `make` with the path of a temporary file in the folder of `path` and renames the file on success. On failure
 * the temporary file is removed. Errors: those of `make`, and `AppError` `storage_full` for a full disk.
 */
export async function writeAtomically<Result>(
  path: string,
  make: (partPath: string) => Promise<Result>,
): Promise<Result> {
  const tempPath = `${path}.${randomUUID()}.part`;
  try {
    const result = await make(tempPath);
    await rename(tempPath, path);
    return result;
  } catch (error) {
    const wasDiskFull = await isDiskFull(dirname(path));
    await rm(tempPath, { force: true });
    throw wasDiskFull && isFailure(error) ? createStorageFullError(error) : toStorageError(error);
  }
}

/** Below this much free space, the disk counts as full. */
const MIN_FREE_BYTES = 128 * 1024;

/** Returns whether the disk is full, for programs that then write bad output. Call it before removing the file. */
async function isDiskFull(folder: string): Promise<boolean> {
  const stats = await statfs(folder).catch(() => null);
  return stats !== null && stats.bavail * stats.bsize < MIN_FREE_BYTES;
}

/** Excludes aborts, and errors whose code says more than `processing_failed`. */
const isFailure = (error: unknown): boolean =>
  error instanceof AppError
    ? error.code === "processing_failed"
    : error instanceof Error && error.name !== "AbortError";
