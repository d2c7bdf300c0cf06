/** Invitations to a workspace that can be accepted. */
import { and, desc, eq, gt, isNotNull, isNull } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { WorkspaceRole } from "../domain/access";
import type { Queries } from "./db";
import type { OneTimeToken } from "./one-time-tokens";
import { type CountedRows, type OffsetPage, readPage, rowsOf } from "./rows";
import { oneTimeTokens, users, workspaces } from "./schema-accounts";
import type { User } from "./users";
import type { Workspace } from "./workspaces";

const oneTimeTokenRows = rowsOf(oneTimeTokens);

/** `inviter` is null if that account was deleted. */
export type WorkspaceInvitation = { token: OneTimeToken; inviter: User | null; role: WorkspaceRole };

const isUsable = (now: number) =>
  and(eq(oneTimeTokens.purpose, "invitation"), isNull(oneTimeTokens.used_at), gt(oneTimeTokens.expires_at, now));

const isOpen = (workspaceId: string, now: number) => and(eq(oneTimeTokens.workspace_id, workspaceId), isUsable(now));

const withRoles = <Row extends { token: OneTimeToken }>({ rows, total }: CountedRows<Row>) => ({
  rows: rows.map((row) => ({ ...row, role: readInvitedRole(row.token) })),
  total,
});

/** Counts the invitations to a workspace that can be accepted. */
export const countInvitations = (db: Queries, workspaceId: string, now: number) =>
  oneTimeTokenRows.count(db, isOpen(workspaceId, now));

/** Lists the invitations to a workspace that can be accepted, newest first. */
export async function listInvitations(
  db: Queries,
  workspaceId: string,
  { now, ...page }: OffsetPage & { now: number },
) {
  const query = db
    .select({ token: oneTimeTokens, inviter: users })
    .from(oneTimeTokens)
    .leftJoin(users, eq(users.id, oneTimeTokens.created_by))
    .where(isOpen(workspaceId, now))
    .orderBy(desc(oneTimeTokens.created_at), desc(oneTimeTokens.id));
  return withRoles(await readPage(query, page, countInvitations(db, workspaceId, now)));
}

/** An invitation in the view of the invited account. */
export type ReceivedInvitation = WorkspaceInvitation & { workspace: Workspace };

const selectReceived = (db: Queries) =>
  db
    .select({ token: oneTimeTokens, workspace: workspaces, inviter: users })
    .from(oneTimeTokens)
    .innerJoin(workspaces, eq(workspaces.id, oneTimeTokens.workspace_id))
    .leftJoin(users, eq(users.id, oneTimeTokens.created_by));

/** Lists the invitations to workspaces that an address has received and can accept, newest first. */
export async function listReceivedInvitations(
  db: Queries,
  email: string,
  { now, ...page }: OffsetPage & { now: number },
) {
  const isReceived = and(eq(oneTimeTokens.email, email), isNotNull(oneTimeTokens.workspace_id), isUsable(now));
  const query = selectReceived(db).where(isReceived).orderBy(desc(oneTimeTokens.created_at), desc(oneTimeTokens.id));
  return withRoles(await readPage(query, page, oneTimeTokenRows.count(db, isReceived)));
}

/** Returns an invitation to a workspace that an address has received and can accept, or null. */
export async function findReceivedInvitation(
  db: Queries,
  email: string,
  id: string,
  now: number,
): Promise<ReceivedInvitation | null> {
  const [row] = await selectReceived(db)
    .where(and(eq(oneTimeTokens.id, id), eq(oneTimeTokens.email, email), isUsable(now)))
    .limit(1);
  return row ? { ...row, role: readInvitedRole(row.token) } : null;
}

export const takeInvitation = (tx: Queries, id: string, now: number) =>
  oneTimeTokenRows.updateAll(tx, { used_at: now }, { id });

const inviters = alias(users, "inviters");

/** Lists open invitations to workspaces for confirmed addresses of accounts that were not notified yet. */
export async function listInvitationsToNotify(
  db: Queries,
  now: number,
  limit: number,
): Promise<(ReceivedInvitation & { userId: string })[]> {
  const rows = await db
    .select({ token: oneTimeTokens, workspace: workspaces, inviter: inviters, userId: users.id })
    .from(oneTimeTokens)
    .innerJoin(workspaces, eq(workspaces.id, oneTimeTokens.workspace_id))
    .innerJoin(users, and(eq(users.email, oneTimeTokens.email), isNotNull(users.email_verified_at)))
    .leftJoin(inviters, eq(inviters.id, oneTimeTokens.created_by))
    .where(and(isUsable(now), isNull(oneTimeTokens.notified_at)))
    .limit(limit);
  return rows.map((row) => ({ ...row, role: readInvitedRole(row.token) }));
}

/** Records that the account was notified about an invitation. Returns false if it was used up in the meantime. */
export const recordInvitationNotified = (tx: Queries, id: string, now: number) =>
  oneTimeTokenRows.updateAll(
    tx,
    { notified_at: now },
    and(eq(oneTimeTokens.id, id), isUsable(now), isNull(oneTimeTokens.notified_at)),
  );

const ROLE = "role";

/** Returns the data with which an invitation stores its role. */
export const toInvitedRole = (role: WorkspaceRole | null): Record<string, unknown> => ({ [ROLE]: role });

export const readInvitedRole = ({ data }: Pick<OneTimeToken, "data">): WorkspaceRole =>
  (data?.[ROLE] ?? "viewer") as WorkspaceRole;

/** Revokes an open invitation. Returns its address, or null. The row still counts against the inviter's limit. */
export async function closeInvitation(
  tx: Queries,
  workspaceId: string,
  id: string,
  now: number,
): Promise<string | null> {
  const [row] = await tx
    .update(oneTimeTokens)
    .set({ used_at: now, workspace_id: null })
    .where(and(isOpen(workspaceId, now), eq(oneTimeTokens.id, id)))
    .returning({ email: oneTimeTokens.email });
  return row?.email ?? null;
}
