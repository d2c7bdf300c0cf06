/** Detects that something does not fit, before anything is written. */
import { join } from "node:path";
import { DATABASE_NAME } from "../../domain/backup";
import { formatBytes } from "../../domain/bytes";
import { AppError } from "../../domain/errors";
import { getFreeBytes } from "../../lib/disk-reserve";
import { findFileSize } from "../../lib/file-size";

/**
 * Throws `storage_full` when the file system of `folder` has less than `bytes` free. `written`: bytes of the same task
 * that are written already, which the message counts.
 */
export async function requireSpace(folder: string, bytes: number, written = 0): Promise<void> {
  const free = getFreeBytes(folder);
  if (free >= bytes) return;
  throw new AppError(
    "storage_full",
    `${folder} needs ${formatBytes(bytes + written)}, has ${formatBytes(free + written)} free.`,
  );
}

/** Returns the bytes of the database of a data folder, with its log. */
export async function measureDatabase(root: string): Promise<number> {
  return (
    ((await findFileSize(join(root, DATABASE_NAME))) ?? 0) +
    ((await findFileSize(join(root, `${DATABASE_NAME}-wal`))) ?? 0)
  );
}
