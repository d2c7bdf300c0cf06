/** Detects that a disk, a disk quota, the reserve of free space or the database is full. */
import { AppError } from "./errors";

const CODES: unknown[] = ["storage_full", "ENOSPC", "EDQUOT", "EFBIG", "SQLITE_FULL"];

/** Returns whether the error means that storage is full: an `AppError`, or an error of the system or the database. */
export function isStorageFull(error: unknown): boolean {
  // A file that could not be written may fail to close, too.
  if (error instanceof SuppressedError) return isStorageFull(error.error) || isStorageFull(error.suppressed);
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  // Drizzle wraps the errors of the database.
  if (code === undefined && cause !== undefined) return isStorageFull(cause);
  return CODES.includes(code);
}

export const createStorageFullError = (cause: unknown) =>
  new AppError("storage_full", "The storage is full.", { cause });

/** Maps the system errors of full storage to `AppError` `storage_full`. Returns any other error unchanged. */
export const toStorageError = (error: unknown): unknown =>
  !(error instanceof AppError) && isStorageFull(error) ? createStorageFullError(error) : error;
