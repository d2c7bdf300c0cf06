/**
 * The role and the state of accounts. The rules are checked in the transaction of the change, so that concurrent
 * changes cannot break them.
 */
import { AppError, conflict } from "../../domain/errors";
import type { Queries } from "../../store/db";
import { revokeTokensCreatedBy } from "../../store/one-time-tokens";
import { countOtherAdmins, demoteInvitedAdmins, findUserById, type User, updateAccountState } from "../../store/users";
import { type AuditActor, recordAudit, SERVER_ACTOR } from "../access/audit";

export const isActiveAdmin = (user: User): boolean =>
  user.is_admin && user.disabled_at === null && user.deleted_at === null;

/** Throws `AppError` `conflict` if the server would have no administrator without this user. */
export async function requireAnotherAdmin(tx: Queries, user: User): Promise<void> {
  if (isActiveAdmin(user) && (await countOtherAdmins(tx, user.id)) === 0)
    throw conflict(`${user.email} is the last administrator. Create another one first.`);
}

/** Throws `AppError` `forbidden` if the acting user has lost the administrator role since authentication. */
export async function requireActingAdmin(tx: Queries, actor: AuditActor): Promise<void> {
  if (actor.kind !== "user") return;
  const user = actor.userId === null ? null : await findUserById(tx, actor.userId);
  if (!user || !isActiveAdmin(user)) throw new AppError("forbidden", "Only an administrator may do this.");
}

type AccountState = Partial<Pick<User, "is_admin" | "disabled_at" | "deleted_at">>;

/**
 * Changes the state of an account. When a user loses the right to create invitations and reset links, theirs are
 * revoked: they must not be a way back in. For the same reason, administrators whom that user has invited, and who have
 * not accepted, lose the role.
 */
export async function changeAccountState(tx: Queries, id: string, change: AccountState, now: number): Promise<User> {
  const isClosed = (change.disabled_at ?? change.deleted_at ?? null) !== null;
  if (isClosed) await revokeTokensCreatedBy(tx, id, "all", now);
  else if (change.is_admin === false) await revokeTokensCreatedBy(tx, id, "administration", now);
  if (isClosed || change.is_admin === false) {
    for (const invited of await demoteInvitedAdmins(tx, id)) {
      await recordAudit(
        tx,
        SERVER_ACTOR,
        { action: "user.role_changed", target: invited, details: { role: "member" } },
        now,
      );
    }
  }
  return updateAccountState(tx, id, change);
}
