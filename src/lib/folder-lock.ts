/** A lock on a folder that at most one process holds. */
import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";

export type FolderLock = Disposable & { release(): void };

/** Keeps the databases referenced: garbage collection would close them and release their locks. */
const heldDatabases = new Set<Database>();

/**
 * Acquires the lock, or returns null if another process holds it. The lock is an exclusive SQLite transaction, and thus
 * an operating system lock on a file: it ends with the process, even after `kill -9`, so there are no stale locks.
 */
export function lockFolder(folder: string): FolderLock | null {
  const path = join(folder, "lock");
  const database = new Database(path, { create: true });
  try {
    database.run("PRAGMA journal_mode=DELETE");
    database.run("PRAGMA locking_mode=EXCLUSIVE");
    // A transaction on an empty file would write a journal each time, for which a full disk has no room.
    if (statSync(path).size === 0) database.run("PRAGMA page_size=512; PRAGMA user_version=1");
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return null;
    throw error;
  }
  heldDatabases.add(database);
  const release = () => {
    heldDatabases.delete(database);
    database.run("ROLLBACK");
    database.close();
  };
  return { release, [Symbol.dispose]: release };
}

/** Returns whether another process holds the lock of a folder. A folder that cannot be locked counts as locked. */
export function isFolderLocked(folder: string): boolean {
  try {
    const lock = lockFolder(folder);
    lock?.release();
    return lock === null;
  } catch {
    return true;
  }
}
