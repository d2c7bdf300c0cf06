/** Deletes what a workspace contains, in pieces that are each small enough for one transaction. */
import { eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { pipelines, projects } from "./schema";
import { workspaces } from "./schema-accounts";
import { deliveries, events, webhookEndpoints } from "./schema-outbox";

/** Lists the projects of a workspace. */
export async function listProjectIds(db: Queries, workspaceId: string): Promise<string[]> {
  const rows = await db.select({ id: projects.id }).from(projects).where(eq(projects.workspace_id, workspaceId));
  return rows.map((row) => row.id);
}

/** Tables of a workspace besides its projects, those with references first. */
const CONTENT = [deliveries, webhookEndpoints, pipelines, events];

/** Deletes at most `limit` rows of a workspace that belong to no project. Returns false when there are none. */
export async function deleteWorkspaceRows(tx: Queries, workspaceId: string, limit: number): Promise<boolean> {
  for (const table of CONTENT) {
    const some = sql`SELECT id FROM ${table} WHERE workspace_id = ${workspaceId} LIMIT ${limit}`;
    const deleted = await tx.delete(table).where(sql`id IN (${some})`).returning({ id: table.id });
    if (deleted.length > 0) return true;
  }
  return false;
}

/** Deletes a workspace that is empty but for its members, keys and holds. Returns false if it does not exist. */
export async function deleteWorkspace(tx: Queries, id: string): Promise<boolean> {
  const rows = await tx.delete(workspaces).where(eq(workspaces.id, id)).returning({ id: workspaces.id });
  return rows.length > 0;
}
