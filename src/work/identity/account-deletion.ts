/**
 * Deletion of accounts: it starts a grace period in which the user can sign in and restore the account.
 * `account-purge.ts` deletes what remains afterwards.
 */
import { GRACE_DAYS } from "../../domain/access";
import { type AppError, conflict, requireFound } from "../../domain/errors";
import { DAY_MS } from "../../domain/time";
import type { Queries } from "../../store/db";
import { findUserById, type User } from "../../store/users";
import { listSolelyOwnedWorkspaces } from "../../store/workspaces";
import { type AuditActor, recordAudit } from "../access/audit";
import { requireNoRenewal } from "../billing/subscriptions";
import { changeAccountState, requireAnotherAdmin } from "./administrators";

/** Time after its deletion within which an account can be restored. */
export const GRACE_PERIOD_MS = GRACE_DAYS * DAY_MS;

const MAX_SHOWN_WORKSPACES = 10;

/**
 * Starts the grace period of an account, unless it has started. Errors: `not_found`; `conflict` for the last
 * administrator, for the last owner of a shared workspace, and while a subscription renews.
 */
export async function startAccountDeletion(tx: Queries, actor: AuditActor, id: string, now: number): Promise<User> {
  const user = await getAccount(tx, id);
  if (user.deleted_at !== null) return user;
  await requireAnotherAdmin(tx, user);
  const owned = await listSolelyOwnedWorkspaces(tx, id);
  if (owned.length > 0) throw lastOwnerError(user, owned);
  await requireNoRenewal(tx, id);
  await recordAudit(tx, actor, { action: "user.deletion_started", target: id }, now);
  return changeAccountState(tx, id, { deleted_at: now }, now);
}

function lastOwnerError(user: User, workspaces: { name: string }[]): AppError {
  const names = workspaces.slice(0, MAX_SHOWN_WORKSPACES).map(({ name }) => `"${name}"`);
  const others = workspaces.length - names.length;
  const all = [...names, ...(others > 0 ? [`${others} more`] : [])].join(", ");
  return conflict(
    `${user.email} is the last owner of workspaces: ${all}. Make another member an owner, or delete the workspaces.`,
  );
}

/**
 * Restores an account in its grace period. Does nothing to others. Errors: `not_found`; `conflict` when the period has
 * ended.
 */
export async function restoreAccount(tx: Queries, actor: AuditActor, id: string, now: number): Promise<User> {
  const user = await getAccount(tx, id);
  if (user.deleted_at === null) return user;
  // The purge may have begun.
  if (user.deleted_at + GRACE_PERIOD_MS <= now)
    throw conflict("Account cannot be restored: its grace period has ended.");
  await recordAudit(tx, actor, { action: "user.restored", target: id }, now);
  return changeAccountState(tx, id, { deleted_at: null }, now);
}

async function getAccount(tx: Queries, id: string): Promise<User> {
  return requireFound(await findUserById(tx, id), "Account");
}
