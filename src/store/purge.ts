/** Deletes the content of a workspace and the remains of an account, in pieces small enough for a transaction. */
import { eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { deleteDeviceCodesOf } from "./device-codes";
import { exists, listIds, only, rowsOf } from "./rows";
import { assets, ledger, pipelines, projects, renders } from "./schema";
import { apiKeys, mails, oneTimeTokens, sessions, workspaces } from "./schema-accounts";
import { liveEvents } from "./schema-notifications";
import { deliveries, events, webhookEndpoints } from "./schema-outbox";

const ledgerRows = rowsOf(ledger);

/** The content of a workspace, for the record of its deletion. */
export type WorkspaceContent = { projects: number; assets: number; renders: number; bytes: number };

export const countWorkspaceContent = (db: Queries, id: string) =>
  only(
    db.all<WorkspaceContent>(sql`SELECT
    (SELECT count(*) FROM ${projects} WHERE workspace_id = ${id}) AS projects,
    (SELECT count(*) FROM ${assets} WHERE workspace_id = ${id}) AS assets,
    (SELECT count(*) FROM ${renders} WHERE workspace_id = ${id}) AS renders,
    (SELECT coalesce(sum(upload_length + derived_bytes), 0) FROM ${assets}
      WHERE workspace_id = ${id} AND cut_id IS NULL AND render_id IS NULL)
      + (SELECT coalesce(sum(size_bytes), 0) FROM ${renders} WHERE workspace_id = ${id}) AS bytes`),
  );

export const listProjectIds = (db: Queries, workspaceId: string) =>
  listIds(db.select({ id: projects.id }).from(projects).where(eq(projects.workspace_id, workspaceId)));

/** Lists the IDs of the assets and renders of a project. */
export const listProjectFileIds = (db: Queries, projectId: string) =>
  listIds(
    db.all<{ id: string }>(sql`
    SELECT id FROM ${assets} WHERE project_id = ${projectId}
    UNION SELECT ${renders.id} FROM ${renders} JOIN ${assets} ON ${assets.id} = ${renders.asset_id}
      WHERE ${assets.project_id} = ${projectId}`),
  );

/** Tables of a workspace other than projects, in deletion order. Deleting pipelines writes live events. */
const CONTENT = [deliveries, webhookEndpoints, pipelines, events, liveEvents];

/** Deletes at most `limit` rows of a workspace that belong to no project. Returns false if none are left. */
export async function deleteWorkspaceRows(tx: Queries, workspaceId: string, limit: number): Promise<boolean> {
  for (const table of CONTENT) {
    const some = sql`SELECT id FROM ${table} WHERE workspace_id = ${workspaceId} LIMIT ${limit}`;
    const deleted = await tx.delete(table).where(sql`id IN (${some})`).returning({ id: table.id });
    if (deleted.length > 0) return true;
  }
  return false;
}

/** Deletes a workspace that is empty except for members, keys and holds. Returns false if it does not exist. */
export const deleteWorkspace = (tx: Queries, id: string) =>
  exists(tx.delete(workspaces).where(eq(workspaces.id, id)).returning({ id: workspaces.id }));

/** Deletes an account's sessions, the device codes that can still become keys, and, unless kept, its keys. */
export async function deleteCredentials(
  tx: Queries,
  userId: string,
  { keepsApiKeys }: { keepsApiKeys: boolean },
): Promise<void> {
  if (!keepsApiKeys) await tx.delete(apiKeys).where(eq(apiKeys.user_id, userId));
  await deleteDeviceCodesOf(tx, userId);
  await tx.delete(sessions).where(eq(sessions.user_id, userId));
}

/** Deletes mails to an address, and tokens that were sent to it, such as invitations. */
export async function deleteMailsTo(tx: Queries, email: string): Promise<void> {
  await tx.delete(mails).where(sql`lower(${mails.recipient}) = ${email}`);
  await tx.delete(oneTimeTokens).where(sql`lower(${oneTimeTokens.email}) = ${email}`);
}

export const moveLedger = (tx: Queries, workspaceId: string, newId: string) =>
  ledgerRows.updateAll(tx, { workspace_id: newId }, { workspace_id: workspaceId });
