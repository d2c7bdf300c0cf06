/** Files that appear whole or not at all: written under a name of their own, then renamed. */
import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { AppError } from "../domain/errors";

/**
 * Lets `make` write a part file beside `path` and renames it when done. When it fails the part is removed. Errors: those of `make`, and
 * `AppError` `storage_full` for a full disk.
 */
export async function writeWhole<Result>(path: string, make: (partPath: string) => Promise<Result>): Promise<Result> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    const result = await make(part);
    await rename(part, path);
    return result;
  } catch (error) {
    await rm(part, { force: true });
    throw asStorageError(error);
  }
}

/** A full disk is `storage_full`; anything else stays as it is. */
export function asStorageError(error: unknown): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new AppError("storage_full", "the storage is full", { cause: error });
  return error;
}
