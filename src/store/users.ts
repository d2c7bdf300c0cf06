/** Accounts and their API keys. */
import { and, asc, eq, isNull, lte, ne, not, or, type SQL, sql } from "drizzle-orm";
import type { WorkspaceRole } from "../domain/access";
import type { Queries } from "./db";
import { first, type IdPage, listIds, only, prepareRowQuery, rowsOf } from "./rows";
import { apiKeys, users, workspaceMembers } from "./schema-accounts";
import { insertPersonalWorkspace } from "./workspaces";

const apiKeyRows = rowsOf(apiKeys);
const userRows = rowsOf(users);

export type User = typeof users.$inferSelect;
export type ApiKey = typeof apiKeys.$inferSelect;

export async function insertUser(tx: Queries, user: typeof users.$inferInsert): Promise<User> {
  const [row] = await tx.insert(users).values(user).returning();
  await insertPersonalWorkspace(tx, row!);
  return row!;
}

/** Returns the user with this email address, ignoring case, or null. */
export const findUserByEmail = (db: Queries, email: string) => userRows.find(db, { email: email.toLowerCase() });

export const findUserById = userRows.findById;

/** Joins the first and last name; null if both are missing. */
export const formatUserName = (user: Pick<User, "first_name" | "last_name">): string | null =>
  [user.first_name, user.last_name].filter(Boolean).join(" ") || null;

/** Lists all accounts, oldest first. */
export const listUsers = (db: Queries): Promise<User[]> => db.select().from(users).orderBy(asc(users.id));

/** The parts of their own account that users can change without further checks. */
type ProfileChange = Partial<Pick<User, "first_name" | "last_name" | "two_factor_enabled">>;

/** Changes the profile of a user. Returns null if the account no longer exists. */
export const updateProfile = (tx: Queries, id: string, change: ProfileChange) => userRows.updateById(tx, id, change);

export const updateAccountState = (
  tx: Queries,
  id: string,
  change: Partial<Pick<User, "is_admin" | "disabled_at" | "deleted_at">>,
) => only(tx.update(users).set(change).where(eq(users.id, id)).returning());

/** Lists the accounts that were deleted at or before this time, first deleted first. */
export const listUsersDeletedBefore = (db: Queries, time: number) =>
  userRows.list(db, lte(users.deleted_at, time), asc(users.deleted_at), asc(users.id));

/** Deletes an account with its keys, sessions and memberships. */
export const deleteUser = userRows.deleteById;

/** Returns whether an administrator exists, even if disabled. */
export const hasAdministrator = (db: Queries) => userRows.has(db, { is_admin: true });

/** Uses the right to a workspace with initial credits, once per interval. Returns false if it was already used. */
export async function takeWorkspaceGrant(tx: Queries, id: string, now: number, intervalMs: number) {
  const isDue = or(isNull(users.workspace_grant_at), lte(users.workspace_grant_at, now - intervalMs));
  return userRows.updateAll(tx, { workspace_grant_at: now }, and(eq(users.id, id), isDue));
}

export const listAdminIds = (db: Queries) => userRows.listIds(db, { is_admin: true });

/** Records the time of a sign-in. Does not change `Store.accountsRevision`. */
export const recordSignIn = (tx: Queries, id: string, now: number) =>
  userRows.updateAll(tx, { last_sign_in_at: now }, { id });

export const setPasswordHash = (tx: Queries, id: string, hash: string) =>
  userRows.updateAll(tx, { password_hash: hash }, { id });

/** Records that the user owns the address, unless this is already known. */
export const setEmailVerified = (tx: Queries, id: string, now: number) =>
  userRows.updateAll(tx, { email_verified_at: now }, { id, email_verified_at: null });

/** An invited account that has not been used yet. */
const isWaiting = and(isNull(users.password_hash), isNull(users.last_sign_in_at));

/** Removes the administrator role from unused accounts that a user has invited. Returns their IDs. */
export const demoteInvitedAdmins = (tx: Queries, invitedBy: string) =>
  listIds(
    tx
      .update(users)
      .set({ is_admin: false })
      .where(and(eq(users.invited_by, invitedBy), eq(users.is_admin, true), isWaiting))
      .returning({ id: users.id }),
  );

/** Counts the other active administrators: not disabled or being deleted, and with an accepted invitation. */
export const countOtherAdmins = (db: Queries, id: string) =>
  userRows.count(
    db,
    and(
      eq(users.is_admin, true),
      ne(users.id, id),
      isNull(users.disabled_at),
      isNull(users.deleted_at),
      not(isWaiting!),
    ),
  );

export const insertApiKey = apiKeyRows.insert;

/** `role` is the owner's role in the key's workspace; null if the owner is no longer a member. */
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

const selectKeys = (db: Queries, condition: SQL | undefined) =>
  db
    .select({ key: apiKeys, email: users.email })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.user_id))
    .where(condition);

/** Lists keys with their owner's email address, oldest first. `userId` null lists those of all accounts. */
export const listApiKeys = (db: Queries, userId: string | null): Promise<ApiKeyWithOwner[]> =>
  selectKeys(db, userId === null ? undefined : eq(apiKeys.user_id, userId)).orderBy(asc(apiKeys.id));

/** Deletes a key. Returns the deleted key, or null if it did not exist. */
export async function deleteApiKey(tx: Queries, id: string): Promise<ApiKeyWithOwner | null> {
  const found = await first(selectKeys(tx, eq(apiKeys.id, id)).limit(1));
  if (found) await apiKeyRows.deleteById(tx, id);
  return found;
}

/** Lists the user's own keys, newest first. `afterId` is the last key of the previous page. */
export const listOwnApiKeys = (db: Queries, userId: string, page: IdPage) =>
  apiKeyRows.listNewest(db, { user_id: userId }, page);

export const countApiKeys = (db: Queries, userId: string) => apiKeyRows.count(db, { user_id: userId });

/** Deletes a key of the user. Returns the deleted key, or null if the user has no such key. */
export const deleteApiKeyOf = (tx: Queries, userId: string, id: string) =>
  first(
    tx
      .delete(apiKeys)
      .where(and(eq(apiKeys.id, id), eq(apiKeys.user_id, userId)))
      .returning(),
  );

export const findKeyOwner = (db: Queries, hash: string) => keyOwnerQuery(db, { hash });

/** Records the use of a key. Does not change `Store.accountsRevision`. */
export const touchApiKey = (tx: Queries, id: string, now: number) =>
  apiKeyRows.updateAll(tx, { last_used_at: now }, { id });

/** Returns the first owner of a workspace, or null if the workspace does not exist. */
export async function findWorkspaceOwner(db: Queries, workspaceId: string): Promise<User | null> {
  const [row] = await db
    .select({ user: users })
    .from(workspaceMembers)
    .innerJoin(users, eq(users.id, workspaceMembers.user_id))
    .where(and(eq(workspaceMembers.workspace_id, workspaceId), eq(workspaceMembers.role, "owner")))
    .orderBy(asc(workspaceMembers.created_at), asc(users.id))
    .limit(1);
  return row?.user ?? null;
}
