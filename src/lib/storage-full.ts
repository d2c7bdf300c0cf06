/** Detects errors of the system and the database about a full disk. */

/** Returns whether the error means that the disk, a disk quota or the database is full. */
export function isStorageFull(error: unknown): boolean {
  // A file that could not be written may fail to close, too.
  if (error instanceof SuppressedError) return isStorageFull(error.error) || isStorageFull(error.suppressed);
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  // Drizzle wraps the errors of the database.
  if (code === undefined && cause !== undefined) return isStorageFull(cause);
  return code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG" || code === "SQLITE_FULL";
}
