/** Invitations to a workspace that can be accepted. */
import { and, count, desc, eq, gt, isNull } from "drizzle-orm";
import type { WorkspaceRole } from "../domain/access";
import type { Queries } from "./db";
import type { OneTimeToken } from "./one-time-tokens";
import { oneTimeTokens, users } from "./schema-accounts";
import type { User } from "./users";

/** `inviter` null: that account was deleted. */
export type WorkspaceInvitation = { token: OneTimeToken; inviter: User | null; role: WorkspaceRole };

const isOpen = (workspaceId: string, now: number) =>
  and(
    eq(oneTimeTokens.workspace_id, workspaceId),
    eq(oneTimeTokens.purpose, "invitation"),
    isNull(oneTimeTokens.used_at),
    gt(oneTimeTokens.expires_at, now),
  );

/** Lists the invitations to a workspace that can be accepted, newest first. */
export async function listInvitations(
  db: Queries,
  workspaceId: string,
  { now, limit, offset }: { now: number; limit: number; offset: number },
): Promise<{ rows: WorkspaceInvitation[]; total: number }> {
  const rows = await db
    .select({ token: oneTimeTokens, inviter: users })
    .from(oneTimeTokens)
    .leftJoin(users, eq(users.id, oneTimeTokens.created_by))
    .where(isOpen(workspaceId, now))
    .orderBy(desc(oneTimeTokens.created_at), desc(oneTimeTokens.id))
    .limit(limit)
    .offset(offset);
  const [all] = await db.select({ n: count() }).from(oneTimeTokens).where(isOpen(workspaceId, now));
  return { rows: rows.map((row) => ({ ...row, role: readInvitedRole(row.token) })), total: all?.n ?? 0 };
}

const ROLE = "role";

/** Returns what an invitation stores of the role that it leads to. */
export const toInvitedRole = (role: WorkspaceRole | null): Record<string, unknown> => ({ [ROLE]: role });

/** Returns the role that an invitation leads to. */
export const readInvitedRole = ({ data }: Pick<OneTimeToken, "data">): WorkspaceRole =>
  (data?.[ROLE] ?? "viewer") as WorkspaceRole;

/** Revokes an invitation that can be accepted. Returns its address, null if there is none. The row still counts against the limit of who invites. */
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
