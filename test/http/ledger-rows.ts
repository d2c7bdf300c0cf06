/** Ledgers of many entries. */
import { sql } from "drizzle-orm";
import type { Harness } from "./harness";

/** Adds grants of 1, 2, 3, … credits, one a minute from 2030 on. */
export async function addGrants(server: Harness, workspaceId: string, count: number): Promise<void> {
  const start = Date.UTC(2030, 0, 1);
  await server.services().store.write(async (tx) => {
    await tx.run(sql`INSERT INTO ledger (id, workspace_id, type, delta, created_at)
      WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < ${count})
      SELECT printf('%s-7000-8000-%012x', substr(${workspaceId}, 1, 13), i), ${workspaceId}, 'grant', i, ${start} + i * 60000 FROM counted`);
  });
}
