/** Invitations to workspaces, as the invited account sees them. Users become members only by accepting. */
import type { WorkspaceRole } from "../../domain/access";
import { AppError } from "../../domain/errors";
import { sha256 } from "../../lib/hash";
import type { Queries } from "../../store/db";
import { markCauseRead } from "../../store/notifications";
import { findOneTimeTokenId } from "../../store/one-time-tokens";
import type { User } from "../../store/users";
import { findReceivedInvitation, type ReceivedInvitation, takeInvitation } from "../../store/workspace-invitations";
import type { OwnWorkspace } from "../../store/workspace-members";
import { findRole, insertMember } from "../../store/workspaces";
import type { AuditActor } from "../access/audit";
import { VERIFIES_ADDRESS } from "../identity/account-links";
import { isActiveAdmin } from "../identity/administrators";
import { confirmAddress } from "../identity/email-verification";
import { recordOnWorkspace } from "./workspaces";

/** Anyone with the link may accept with the account of its address. Without the link, the address must be confirmed. */
export type InvitationChoice = { id: string } | { token: string };

/**
 * Accepts an invitation for the user. Throws `AppError` `not_found` if it is not for the user's address or not open.
 */
export async function acceptReceivedInvitation(
  tx: Queries,
  actor: AuditActor,
  user: User,
  choice: InvitationChoice,
  now: number,
): Promise<OwnWorkspace> {
  const { token, workspace, inviter, role: offered } = await takeReceived(tx, user, choice, now);
  const known = await findRole(tx, workspace.id, user.id);
  const role: WorkspaceRole = known ?? offered;
  if (known === null) await insertMember(tx, { workspace_id: workspace.id, user_id: user.id, role, created_at: now });
  // An inviting administrator vouches for the address, unless the role was lost since.
  const isVouchedFor = token.data?.[VERIFIES_ADDRESS] === true && inviter !== null && isActiveAdmin(inviter);
  if ("token" in choice && isVouchedFor) await confirmAddress(tx, user, now);
  const details = { user_id: user.id, role, invited_by: token.created_by };
  await recordOnWorkspace(tx, actor, "workspace.member_added", workspace.id, now, details);
  return { workspace, role };
}

/** Declines an invitation. Errors: those of `acceptReceivedInvitation`. */
export async function declineReceivedInvitation(
  tx: Queries,
  actor: AuditActor,
  user: User,
  choice: InvitationChoice,
  now: number,
): Promise<void> {
  const { workspace } = await takeReceived(tx, user, choice, now);
  await recordOnWorkspace(tx, actor, "workspace.invitation_declined", workspace.id, now);
}

async function takeReceived(
  tx: Queries,
  user: User,
  choice: InvitationChoice,
  now: number,
): Promise<ReceivedInvitation> {
  const id = "id" in choice ? choice.id : await findOneTimeTokenId(tx, sha256(choice.token));
  const mayAccept = "token" in choice || user.email_verified_at !== null;
  const found = id === null || !mayAccept ? null : await findReceivedInvitation(tx, user.email, id, now);
  if (found === null) throw new AppError("not_found", "Invitation not found. It may have expired or been revoked.");
  await takeInvitation(tx, found.token.id, now);
  await markCauseRead(tx, user.id, { type: "workspace_invitation", cause: found.token.id }, now);
  return found;
}
