/** Files that appear whole or not at all: written under a name of their own, then renamed. */
import { randomUUID } from "node:crypto";
import { rename, rm, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "../domain/errors";

/**
 * Lets `make` write a part file beside `path` and renames it when done. When it fails the part is removed. Errors: those of `make`, and
 * `AppError` `storage_full` for a full disk.
 */
export async function writeAtomically<Result>(
  path: string,
  make: (partPath: string) => Promise<Result>,
): Promise<Result> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    const result = await make(part);
    await rename(part, path);
    return result;
  } catch (error) {
    const full = await isDiskFull(dirname(path));
    await rm(part, { force: true });
    throw full && isFailure(error) ? createStorageFullError(error) : toStorageError(error);
  }
}

/** Less room than this is none. */
const MIN_FREE_BYTES = 128 * 1024;

/** Not every program says that the disk was full when what it wrote cannot be read. Looked at while the part file is still there. */
async function isDiskFull(folder: string): Promise<boolean> {
  const room = await statfs(folder).catch(() => null);
  return room !== null && room.bavail * room.bsize < MIN_FREE_BYTES;
}

/** An abort is none, and a code that says more than "failed" is kept. */
const isFailure = (error: unknown): boolean =>
  error instanceof AppError
    ? error.code === "processing_failed"
    : error instanceof Error && error.name !== "AbortError";

const createStorageFullError = (cause: unknown) => new AppError("storage_full", "the storage is full", { cause });

/** A full disk is `storage_full`; anything else stays as it is. */
export function toStorageError(error: unknown): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return createStorageFullError(error);
  return error;
}
