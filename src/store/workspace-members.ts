/** The workspaces of a user and the members of a workspace. */
import { and, asc, count, desc, eq, isNull, ne, type SQL, sql } from "drizzle-orm";
import type { WorkspaceRole } from "../domain/access";
import type { Queries } from "./db";
import { deleteRenderSharesOf } from "./render-shares";
import { exists, first, listIds, type OffsetPage, readPage, rowsOf } from "./rows";
import { apiKeys, oneTimeTokens, users, workspaceMembers, workspaces } from "./schema-accounts";
import type { User } from "./users";
import type { Workspace } from "./workspaces";

const oneTimeTokenRows = rowsOf(oneTimeTokens);
const workspaceMemberRows = rowsOf(workspaceMembers);

export type OwnWorkspace = { workspace: Workspace; role: WorkspaceRole };
export type Member = { user: User; role: WorkspaceRole; since: number };

const isOf = (workspaceId: string, userId: string) =>
  and(eq(workspaceMembers.workspace_id, workspaceId), eq(workspaceMembers.user_id, userId));

/** Tables whose rows have their own page, or belong to one. */
const CONTENT_TABLES = ["projects", "assets", "cuts", "renders", "webhook_endpoints", "orders"];

/** Matches the workspace of a resource. Reads each table by its primary key, even if the resource does not exist. */
function containsResource(id: string): SQL {
  const lookups = CONTENT_TABLES.map(
    (table) => sql`SELECT workspace_id FROM ${sql.identifier(table)} WHERE id = ${id}`,
  );
  const pipeline = sql`SELECT workspace_id FROM pipelines WHERE id = ${id} AND is_hidden = 0`;
  return sql`${workspaceMembers.workspace_id} IN (${sql.join([...lookups, pipeline], sql` UNION ALL `)})`;
}

type WorkspaceFilter = { onlyId: string | null; containing: string | null } & OffsetPage;

/**
 * Lists the workspaces of a user, the personal one first. `onlyId` limits the list to one workspace. `containing` is
 * the ID of a resource, to whose workspace the list is limited. Null does not limit.
 */
export async function listWorkspaces(db: Queries, userId: string, { onlyId, containing, ...page }: WorkspaceFilter) {
  const isListed = and(
    eq(workspaceMembers.user_id, userId),
    onlyId === null ? undefined : eq(workspaceMembers.workspace_id, onlyId),
    containing === null ? undefined : containsResource(containing),
  );
  const query = db
    .select({ workspace: workspaces, role: workspaceMembers.role })
    .from(workspaceMembers)
    .innerJoin(workspaces, eq(workspaces.id, workspaceMembers.workspace_id))
    .where(isListed)
    .orderBy(desc(workspaces.is_personal), asc(workspaces.name), asc(workspaces.id));
  return readPage(query, page, workspaceMemberRows.count(db, isListed));
}

/** Counts the shared workspaces that the user created. */
export const countCreatedWorkspaces = (db: Queries, userId: string): Promise<number> =>
  db.$count(workspaces, and(eq(workspaces.created_by, userId), eq(workspaces.is_personal, false)));

const selectMembers = (db: Queries, condition: SQL | undefined) =>
  db
    .select({ user: users, role: workspaceMembers.role, since: workspaceMembers.created_at })
    .from(workspaceMembers)
    .innerJoin(users, eq(users.id, workspaceMembers.user_id))
    .where(condition);

export const isMemberAddress = (db: Queries, workspaceId: string, email: string) =>
  exists(selectMembers(db, and(eq(workspaceMembers.workspace_id, workspaceId), eq(users.email, email))).limit(1));

/** Lists the members of a workspace, earliest first. */
export async function listMembers(db: Queries, workspaceId: string, page: OffsetPage) {
  const query = selectMembers(db, eq(workspaceMembers.workspace_id, workspaceId));
  return readPage(query.orderBy(asc(workspaceMembers.created_at), asc(users.id)), page, countMembers(db, workspaceId));
}

export const countMembers = (db: Queries, workspaceId: string) =>
  workspaceMemberRows.count(db, { workspace_id: workspaceId });

export const findMember = (db: Queries, workspaceId: string, userId: string) =>
  first(selectMembers(db, isOf(workspaceId, userId)).limit(1));

/** Lists the workspaces whose only member is this user. */
export const listOwnWorkspaceIds = (db: Queries, userId: string) =>
  listIds(
    db
      .select({ id: workspaceMembers.workspace_id })
      .from(workspaceMembers)
      .where(
        and(
          eq(workspaceMembers.user_id, userId),
          sql`NOT EXISTS (SELECT 1 FROM workspace_members AS other
          WHERE other.workspace_id = ${workspaceMembers.workspace_id} AND other.user_id <> ${userId})`,
        ),
      ),
  );

export const listOwnerIds = (db: Queries, workspaceId: string) =>
  listIds(
    db
      .select({ id: workspaceMembers.user_id })
      .from(workspaceMembers)
      .where(and(eq(workspaceMembers.workspace_id, workspaceId), eq(workspaceMembers.role, "owner"))),
  );

/** Counts the other owners of a workspace that are neither disabled nor being deleted. */
export async function countOtherOwners(db: Queries, workspaceId: string, userId: string): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(workspaceMembers)
    .innerJoin(users, eq(users.id, workspaceMembers.user_id))
    .where(
      and(
        eq(workspaceMembers.workspace_id, workspaceId),
        eq(workspaceMembers.role, "owner"),
        ne(users.id, userId),
        isNull(users.disabled_at),
        isNull(users.deleted_at),
      ),
    );
  return row?.n ?? 0;
}

export const setRole = (tx: Queries, workspaceId: string, userId: string, role: WorkspaceRole) =>
  workspaceMemberRows.updateAll(tx, { role }, isOf(workspaceId, userId));

export const revokeInvitationsBy = (tx: Queries, workspaceId: string, userId: string, now: number) =>
  revokeInvitations(tx, workspaceId, eq(oneTimeTokens.created_by, userId), now);

export const revokeInvitationsOf = (tx: Queries, workspaceId: string, email: string, now: number) =>
  revokeInvitations(tx, workspaceId, sql`lower(${oneTimeTokens.email}) = ${email}`, now);

/** The rows stay until they expire, because they count against the inviter's limit, but without a workspace. */
const revokeInvitations = (tx: Queries, workspaceId: string, which: SQL | undefined, now: number) =>
  oneTimeTokenRows.updateAll(
    tx,
    { used_at: sql`coalesce(${oneTimeTokens.used_at}, ${now})`, workspace_id: null },
    and(eq(oneTimeTokens.workspace_id, workspaceId), eq(oneTimeTokens.purpose, "invitation"), which),
  );

/** Removes a member, and the API keys, invitations and share links that the member created for the workspace. */
export async function deleteMember(tx: Queries, workspaceId: string, userId: string, now: number): Promise<void> {
  await tx.delete(apiKeys).where(and(eq(apiKeys.workspace_id, workspaceId), eq(apiKeys.user_id, userId)));
  await deleteRenderSharesOf(tx, workspaceId, userId);
  await revokeInvitationsBy(tx, workspaceId, userId, now);
  await tx.delete(workspaceMembers).where(isOf(workspaceId, userId));
}

/** Removes all API keys and invitations of a workspace, and all members except one. */
export async function removeOtherAccess(
  tx: Queries,
  workspaceId: string,
  keptUserId: string,
  now: number,
): Promise<void> {
  await tx.delete(apiKeys).where(eq(apiKeys.workspace_id, workspaceId));
  await revokeInvitations(tx, workspaceId, undefined, now);
  await tx
    .delete(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspaceId), ne(workspaceMembers.user_id, keptUserId)));
}
