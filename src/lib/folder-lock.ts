/** The lock on the data folder: at most one process opens it. */
import { Database } from "bun:sqlite";
import { join } from "node:path";

export type FolderLock = { release(): void };

/** A database that nobody refers to any more is closed when it is collected, and its lock goes with it. */
const heldDatabases = new Set<Database>();

/**
 * Takes the lock, or returns null when another process holds it. The lock is an exclusive SQLite transaction, which is a lock
 * of the operating system on the file: it goes with the process, also after a `kill -9`, so there is nothing stale to clean.
 */
export function lockFolder(folder: string): FolderLock | null {
  const database = new Database(join(folder, "lock"), { create: true });
  try {
    database.run("PRAGMA journal_mode=DELETE");
    database.run("PRAGMA locking_mode=EXCLUSIVE");
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return null;
    throw error;
  }
  heldDatabases.add(database);
  return {
    release: () => {
      heldDatabases.delete(database);
      database.run("ROLLBACK");
      database.close();
    },
  };
}
