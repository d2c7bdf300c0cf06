/** The state of an account: its role on the server, whether it is disabled, and whether it is being deleted. */
import type { Queries } from "../../store/db";
import { revokeTokensCreatedBy } from "../../store/one-time-tokens";
import { demoteInvitedAdmins, type User, updateAccountState } from "../../store/users";
import { recordAudit, SERVER_ACTOR } from "../access/audit";

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
      const target = { kind: "user", id: invited };
      await recordAudit(tx, SERVER_ACTOR, { action: "user.role_changed", target, details: { role: "member" } }, now);
    }
  }
  return updateAccountState(tx, id, change);
}
