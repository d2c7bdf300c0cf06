/** Workspaces and their members. */
import { type SQL, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { workspaceMembers, workspaces } from "./schema-accounts";
import type { User } from "./users";

/** Creates the workspace with the user's own ID, which has no other member. Part of the creation of an account. */
export async function insertPersonalWorkspace(tx: Queries, user: Pick<User, "id" | "created_at">): Promise<void> {
  const { id, created_at } = user;
  await tx.insert(workspaces).values({ id, name: "Personal", is_personal: true, created_by: id, created_at });
  await tx.insert(workspaceMembers).values({ workspace_id: id, user_id: id, role: "owner", created_at });
}

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
export async function isWorkspaceDisabled(db: Queries, workspaceId: string): Promise<boolean> {
  const hasEnabledOwner = hasOwner(sql`${workspaceId}`, sql`u.disabled_at IS NULL`);
  const [row] = await db.all<{ found: number }>(sql`SELECT ${hasEnabledOwner} AS found`);
  return row?.found !== 1;
}
