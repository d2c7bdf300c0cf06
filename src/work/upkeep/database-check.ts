/**
 * Checks the pages of the database once after each start, outside the event loop. A server with a damaged database
 * still starts: the readable data may be needed, and only an administrator can decide which backup replaces it.
 * `/readyz`, `offcut doctor` and an alert say so. Later damage shows in queries and in the hourly snapshots. Both
 * checks read the whole file, as each backup does.
 */
import { join } from "node:path";
import { DATABASE_NAME } from "../../domain/backup";
import { findDatabaseProblems } from "../../store/database-file";
import type { CoreNeeds } from "../needs";

export function createDatabaseCheck({ folders, store }: CoreNeeds) {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  async function check(): Promise<void> {
    const path = join(folders.root, DATABASE_NAME);
    const [problem] = await findDatabaseProblems(path, { isQuick: true, signal: stopping.signal });
    if (problem !== undefined) store.reportDamage(problem);
  }
  return {
    start: () => {
      // It fails only when the server stops.
      running = check().catch(() => {});
    },
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}
