/** Accounts and their API keys. */
import { and, asc, count, desc, eq, isNull, lt, lte, ne, not, or, sql } from "drizzle-orm";
import type { WorkspaceRole } from "../domain/access";
import type { Queries } from "./db";
import { type RowPage, toRowPage } from "./paging";
import { prepareRowQuery } from "./prepared-query";
import { apiKeys, users, workspaceMembers } from "./schema-accounts";
import { insertPersonalWorkspace } from "./workspaces";

export type User = typeof users.$inferSelect;
export type ApiKey = typeof apiKeys.$inferSelect;

/** Inserts an account with its personal workspace. */
export async function insertUser(tx: Queries, user: typeof users.$inferInsert): Promise<User> {
  const [row] = await tx.insert(users).values(user).returning();
  await insertPersonalWorkspace(tx, row!);
  return row!;
}

/** Returns the user with this e-mail address, compared without case, or null. */
export async function findUserByEmail(db: Queries, email: string): Promise<User | null> {
  const [row] = await db.select().from(users).where(eq(users.email, email.toLowerCase())).limit(1);
  return row ?? null;
}

export async function getUser(db: Queries, id: string): Promise<User | null> {
  const [row] = await db.select().from(users).where(eq(users.id, id)).limit(1);
  return row ?? null;
}

/** Returns the first and last name joined, or null without either. */
export const formatUserName = (user: Pick<User, "first_name" | "last_name">): string | null =>
  [user.first_name, user.last_name].filter(Boolean).join(" ") || null;

/** Lists all accounts, oldest first. */
export const listUsers = (db: Queries): Promise<User[]> => db.select().from(users).orderBy(asc(users.id));

/** What a user can change of the own account without further checks. */
export type ProfileChange = Partial<Pick<User, "first_name" | "last_name" | "two_factor_enabled">>;

/** Changes the profile of a user. Returns null if the account does not exist any more. */
export async function updateProfile(tx: Queries, id: string, change: ProfileChange): Promise<User | null> {
  const [row] = await tx.update(users).set(change).where(eq(users.id, id)).returning();
  return row ?? null;
}

/** Changes an existing account. */
export async function updateAccountState(
  tx: Queries,
  id: string,
  change: Partial<Pick<User, "is_admin" | "disabled_at" | "deleted_at">>,
): Promise<User> {
  const [row] = await tx.update(users).set(change).where(eq(users.id, id)).returning();
  return row!;
}

/** Lists the accounts that were deleted at or before this time, the first deleted first. */
export const listUsersDeletedBefore = (db: Queries, time: number): Promise<User[]> =>
  db.select().from(users).where(lte(users.deleted_at, time)).orderBy(asc(users.deleted_at), asc(users.id));

/** Deletes an account with its keys, sessions and memberships. */
export async function deleteUser(tx: Queries, id: string): Promise<void> {
  await tx.delete(users).where(eq(users.id, id));
}

/** Returns whether there is an administrator, who may be disabled. */
export async function hasAdministrator(db: Queries): Promise<boolean> {
  const rows = await db.select({ id: users.id }).from(users).where(eq(users.is_admin, true)).limit(1);
  return rows.length > 0;
}

/** Takes the right to a workspace that starts with credits, once per interval. Returns false if it was taken within it. */
export async function takeWorkspaceGrant(tx: Queries, id: string, now: number, intervalMs: number): Promise<boolean> {
  const isDue = or(isNull(users.workspace_grant_at), lte(users.workspace_grant_at, now - intervalMs));
  const rows = await tx
    .update(users)
    .set({ workspace_grant_at: now })
    .where(and(eq(users.id, id), isDue))
    .returning({ id: users.id });
  return rows.length > 0;
}

export async function listAdminIds(db: Queries): Promise<string[]> {
  const rows = await db.select({ id: users.id }).from(users).where(eq(users.is_admin, true));
  return rows.map(({ id }) => id);
}

/** Records the time of a sign-in. Does not change `Store.accountsRevision`. */
export async function recordSignIn(tx: Queries, id: string, now: number): Promise<void> {
  await tx.update(users).set({ last_sign_in_at: now }).where(eq(users.id, id));
}

export async function setPasswordHash(tx: Queries, id: string, hash: string): Promise<void> {
  await tx.update(users).set({ password_hash: hash }).where(eq(users.id, id));
}

/** Records that the user owns the address, unless it is known. */
export async function setEmailVerified(tx: Queries, id: string, now: number): Promise<void> {
  await tx
    .update(users)
    .set({ email_verified_at: now })
    .where(and(eq(users.id, id), isNull(users.email_verified_at)));
}

/** An account that was invited and that nobody has used. */
const isWaiting = and(isNull(users.password_hash), isNull(users.last_sign_in_at));

/** Makes ordinary users of the administrators that a user has invited and that nobody has used. Returns their IDs. */
export async function demoteInvitedAdmins(tx: Queries, invitedBy: string): Promise<string[]> {
  const rows = await tx
    .update(users)
    .set({ is_admin: false })
    .where(and(eq(users.invited_by, invitedBy), eq(users.is_admin, true), isWaiting))
    .returning({ id: users.id });
  return rows.map(({ id }) => id);
}

/** Counts the other administrators that can act: they are neither disabled nor being deleted, and have accepted their invitation. */
export async function countOtherAdmins(db: Queries, id: string): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(users)
    .where(
      and(
        eq(users.is_admin, true),
        ne(users.id, id),
        isNull(users.disabled_at),
        isNull(users.deleted_at),
        not(isWaiting!),
      ),
    );
  return row?.n ?? 0;
}

export async function insertApiKey(tx: Queries, key: typeof apiKeys.$inferInsert): Promise<ApiKey> {
  const [row] = await tx.insert(apiKeys).values(key).returning();
  return row!;
}

/** `role`: the owner's role in the key's workspace, null if the owner is not a member any more. */
export type KeyOwner = { key: ApiKey; user: User; role: WorkspaceRole | null };

const keyOwnerQuery = prepareRowQuery<{ hash: string }, KeyOwner>((db) =>
  db
    .select({ key: apiKeys, user: users, role: workspaceMembers.role })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.user_id))
    .leftJoin(
      workspaceMembers,
      and(eq(workspaceMembers.workspace_id, apiKeys.workspace_id), eq(workspaceMembers.user_id, apiKeys.user_id)),
    )
    .where(eq(apiKeys.hash, sql.placeholder("hash")))
    .limit(1)
    .prepare(),
);

export type ApiKeyWithOwner = { key: ApiKey; email: string };

/** Lists keys with their owner's e-mail address, oldest first; `userId` null lists those of all accounts. */
export const listApiKeys = (db: Queries, userId: string | null): Promise<ApiKeyWithOwner[]> =>
  db
    .select({ key: apiKeys, email: users.email })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.user_id))
    .where(userId === null ? undefined : eq(apiKeys.user_id, userId))
    .orderBy(asc(apiKeys.id));

/** Deletes a key. Returns the deleted key, or null if it did not exist. */
export async function deleteApiKey(tx: Queries, id: string): Promise<ApiKeyWithOwner | null> {
  const [found] = await tx
    .select({ key: apiKeys, email: users.email })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.user_id))
    .where(eq(apiKeys.id, id))
    .limit(1);
  if (!found) return null;
  await tx.delete(apiKeys).where(eq(apiKeys.id, id));
  return found;
}

/** Lists the user's own keys, newest first. `afterId`: the last key of the previous page. */
export async function listOwnApiKeys(
  db: Queries,
  userId: string,
  page: { afterId: string | null; limit: number },
): Promise<RowPage<ApiKey>> {
  const isAfter = page.afterId === null ? undefined : lt(apiKeys.id, page.afterId);
  const rows = await db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.user_id, userId), isAfter))
    .orderBy(desc(apiKeys.id))
    .limit(page.limit + 1);
  return toRowPage(rows, page.limit);
}

export async function countApiKeys(db: Queries, userId: string): Promise<number> {
  const [row] = await db.select({ n: count() }).from(apiKeys).where(eq(apiKeys.user_id, userId));
  return row?.n ?? 0;
}

/** Deletes a key of the user. Returns the deleted key, or null if the user has no such key. */
export async function deleteApiKeyOf(tx: Queries, userId: string, id: string): Promise<ApiKey | null> {
  const [row] = await tx
    .delete(apiKeys)
    .where(and(eq(apiKeys.id, id), eq(apiKeys.user_id, userId)))
    .returning();
  return row ?? null;
}

/** Returns the key with this hash and its owner, or null. */
export const findKeyOwner = (db: Queries, hash: string) => keyOwnerQuery(db, { hash });

/** Records the use of a key. Does not change `Store.accountsRevision`. */
export async function touchApiKey(tx: Queries, id: string, now: number): Promise<void> {
  await tx.update(apiKeys).set({ last_used_at: now }).where(eq(apiKeys.id, id));
}
