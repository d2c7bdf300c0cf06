/** Workspaces and their members. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { WorkspaceRole } from "../domain/access";
import type { Queries } from "./db";
import { prepareRowQuery, readValue, rowsOf } from "./rows";
import { workspaceMembers, workspaces } from "./schema-accounts";

const workspaceMemberRows = rowsOf(workspaceMembers);
const workspaceRows = rowsOf(workspaces);

export type Workspace = typeof workspaces.$inferSelect;

/** Creates the workspace with the user's own ID, which has no other member. Part of the creation of an account. */
export async function insertPersonalWorkspace(tx: Queries, user: { id: string; created_at: number }): Promise<void> {
  const { id, created_at } = user;
  await insertWorkspace(tx, { id, name: "Personal", is_personal: true, created_by: id, created_at });
  await insertMember(tx, { workspace_id: id, user_id: id, role: "owner", created_at });
}

export const insertWorkspace = workspaceRows.insert;

export const findWorkspaceById = workspaceRows.findById;

export const renameWorkspace = (tx: Queries, id: string, name: string) => workspaceRows.update(tx, { name }, { id });

export const insertMember = workspaceMemberRows.add;

const roleQuery = prepareRowQuery<{ workspaceId: string; userId: string }, { role: WorkspaceRole }>((db) =>
  db
    .select({ role: workspaceMembers.role })
    .from(workspaceMembers)
    .where(
      and(
        eq(workspaceMembers.workspace_id, sql.placeholder("workspaceId")),
        eq(workspaceMembers.user_id, sql.placeholder("userId")),
      ),
    )
    .limit(1)
    .prepare(),
);

/** Returns the user's role in the workspace; null if the user is not a member. */
export const findRole = async (db: Queries, workspaceId: string, userId: string): Promise<WorkspaceRole | null> =>
  (await roleQuery(db, { workspaceId, userId }))?.role ?? null;

export const findWorkspaceName = async (db: Queries, id: string): Promise<string | null> =>
  (await findWorkspaceById(db, id))?.name ?? null;

/** Returns the storage quota in bytes that overrides the configured one, or null. */
export const readQuotaOverride = async (db: Queries, workspaceId: string): Promise<number | null> =>
  (await findWorkspaceById(db, workspaceId))?.storage_quota_bytes ?? null;

/** Sets the quota of a workspace; null uses the configured one, 0 means none. Returns false if it was the same. */
export async function setQuotaOverride(tx: Queries, workspaceId: string, bytes: number | null) {
  const isOther = sql`${workspaces.storage_quota_bytes} IS NOT ${bytes}`;
  return workspaceRows.updateAll(tx, { storage_quota_bytes: bytes }, and(eq(workspaces.id, workspaceId), isOther));
}

/** Lists the shared workspaces whose only active owner is this user. */
export const listSolelyOwnedWorkspaces = (db: Queries, userId: string): Promise<{ id: string; name: string }[]> =>
  db.all(sql`
    SELECT w.id, w.name FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.user_id = ${userId} AND m.role = 'owner' AND w.is_personal = 0 AND NOT ${hasOwner(
      sql`w.id`,
      sql`u.disabled_at IS NULL AND u.deleted_at IS NULL AND u.id <> ${userId}`,
    )}
    ORDER BY w.name, w.id`);

const hasOwner = (workspaceId: SQL, condition: SQL): SQL => sql`EXISTS (
  SELECT 1 FROM workspace_members m CROSS JOIN users u ON u.id = m.user_id
  WHERE m.workspace_id = ${workspaceId} AND m.role = 'owner' AND ${condition}
)`;

/** Matches while an owner of the workspace is neither disabled nor being deleted. */
export const hasActiveOwner = (workspaceId: SQL): SQL =>
  hasOwner(workspaceId, sql`u.disabled_at IS NULL AND u.deleted_at IS NULL`);

/** Matches while an owner of the workspace is not being deleted. */
export const hasRemainingOwner = (workspaceId: SQL): SQL => hasOwner(workspaceId, sql`u.deleted_at IS NULL`);

/** Returns whether all owners of the workspace are disabled. */
export const isWorkspaceDisabled = async (db: Queries, workspaceId: string): Promise<boolean> =>
  (await readValue(db, sql`SELECT ${hasOwner(sql`${workspaceId}`, sql`u.disabled_at IS NULL`)}`)) !== 1;
