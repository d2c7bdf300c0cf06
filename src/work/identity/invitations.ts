/** Invitations: links to an account, optionally with membership in a workspace. */
import type { WorkspaceRole } from "../../domain/access";
import { AppError, conflict, retryLater } from "../../domain/errors";
import { newId } from "../../lib/ids";
import type { Queries } from "../../store/db";
import { wantsMail } from "../../store/notifications";
import { countTokensCreatedBy, takeTokensOf } from "../../store/one-time-tokens";
import { findUserByEmail, findUserById, setEmailVerified, setPasswordHash, type User } from "../../store/users";
import { readInvitedRole, toInvitedRole } from "../../store/workspace-invitations";
import { findRole, findWorkspaceById, findWorkspaceName, insertMember } from "../../store/workspaces";
import { recordAudit } from "../access/audit";
import type { MailNeeds } from "../mail/mails";
import { type AccountLink, toAccountLink, VERIFIES_ADDRESS } from "./account-links";
import { isActiveAdmin } from "./administrators";
import type { IdentityNeeds } from "./needs";
import { insertAccount } from "./new-account";
import { createOneTimeToken, findOneTimeToken, useOneTimeToken } from "./one-time-tokens";
import { requireGoodPassword } from "./passwords";
import { insertStartedSession, type SignInClient, type StartedSession, toAuditActor, toPasswordKey } from "./sign-in";

/** An invitation. `userId`: an account without a password; null: acceptance creates the account. */
type Invitation = {
  email: string;
  userId: string | null;
  /** The workspace to join, and the role there; null: only the personal one. */
  workspace: { id: string; role: WorkspaceRole } | null;
  invitedBy: Pick<User, "email" | "first_name" | "id" | "is_admin" | "last_name">;
};

const HOUR_MS = 3600_000;
const MAX_INVITATIONS_PER_HOUR = 50;

/**
 * Creates an invitation, and mails its link if the server sends mail. Throws `AppError` `rate_limited` when a user who
 * is not an administrator sends too many invitations: their recipients have not asked for them.
 */
export async function createInvitation(
  services: MailNeeds,
  tx: Queries,
  { email, userId, workspace, invitedBy }: Invitation,
): Promise<AccountLink> {
  const now = services.now();
  const recent = invitedBy.is_admin ? 0 : await countTokensCreatedBy(tx, invitedBy.id, now - HOUR_MS);
  if (recent >= MAX_INVITATIONS_PER_HOUR)
    throw retryLater(
      "rate_limited",
      `At most ${MAX_INVITATIONS_PER_HOUR} invitations an hour. Retry later.`,
      HOUR_MS / 1000,
    );
  const issued = await createOneTimeToken(tx, {
    purpose: "invitation",
    userId,
    email,
    workspaceId: workspace?.id ?? null,
    createdBy: invitedBy.id,
    // An administrator vouches for the address. Others also see the link, so its use proves nothing.
    createData: () => ({ [VERIFIES_ADDRESS]: invitedBy.is_admin, ...toInvitedRole(workspace?.role ?? null) }),
    now,
  });
  const link = toAccountLink(services, "invitation", issued);
  if (workspace !== null && !(await wantsMail(tx, email, "workspace_invitation"))) return link;
  const values = {
    url: link.url,
    workspace: workspace && (await findWorkspaceName(tx, workspace.id)),
    role: workspace?.role ?? null,
    invited_by: formatInviter(invitedBy),
    expires_at: link.expiresAt,
  };
  await services.mails.queue(tx, { to: email, userId, template: "invitation", values }, now);
  return link;
}

export const formatInviter = ({ first_name: first, last_name: last, email }: Invitation["invitedBy"]): string =>
  [first, last].filter(Boolean).join(" ") || email;

/**
 * Returns the details of an invitation, even if its address has no account. `workspace` and `role` null: an account
 * only. Throws `AppError` `not_found` if the invitation cannot be used, `rate_limited` after too many such calls.
 */
export async function readInvitation(
  { now, signInLimits, store: { read } }: IdentityNeeds,
  token: string,
  client: SignInClient,
) {
  const found = await findOneTimeToken(read, "invitation", token, now());
  if (!found?.email) {
    signInLimits.takeAnonymousCall(client.address);
    throw new AppError("not_found", UNUSABLE_INVITATION);
  }
  const { email, workspace_id: workspaceId, created_by: createdBy, expires_at: expiresAt } = found;
  return {
    email,
    workspace: workspaceId === null ? null : await findWorkspaceById(read, workspaceId),
    role: workspaceId === null ? null : readInvitedRole(found),
    inviter: createdBy === null ? null : await findUserById(read, createdBy),
    expiresAt,
  };
}

/**
 * Accepts an invitation: sets the password of the account, creating it if necessary, and starts a session. Throws
 * `AppError` `unauthenticated` if the invitation cannot be used, `rate_limited` after too many of those; `conflict` if
 * an account was created for the address in the meantime; `validation_error` for a password that cannot be chosen,
 * which leaves the invitation as it is; `upstream_unavailable`.
 */
export async function acceptInvitation(
  services: IdentityNeeds,
  request: { token: string; password: string },
  client: SignInClient,
): Promise<StartedSession> {
  const { config, now, passwords, sessions, signInLimits, store } = services;
  const found = await findOneTimeToken(store.read, "invitation", request.token, now());
  if (!found?.email) {
    signInLimits.takeAnonymousCall(client.address);
    throw unusableInvitation();
  }
  requireGoodPassword(request.password, found.email);
  // With open sign-up, invitations must not let members create more accounts with credits than sign-up does.
  if (found.user_id === null && config.signup === "open" && found.data?.[VERIFIES_ADDRESS] !== true)
    signInLimits.takeAnonymousCall(client.address);
  const passwordHash = await passwords.hash(toPasswordKey(client), request.password);
  const userId = found.user_id ?? newId();
  const issued = await sessions.issue(userId, client);
  return store.write(async (tx) => {
    const time = issued.row.created_at;
    const used = await useOneTimeToken(tx, "invitation", request.token, time);
    if (!used?.email) throw unusableInvitation();
    // The inviter may have lost rights since the invitation.
    const inviter = used.created_by === null ? null : await findUserById(tx, used.created_by);
    if (!inviter || !(await mayInvite(tx, inviter, used.workspace_id))) throw unusableInvitation();
    const isVouchedFor = used.data?.[VERIFIES_ADDRESS] === true && isActiveAdmin(inviter);
    const emailVerifiedAt = isVouchedFor ? time : null;
    let user: User;
    if (used.user_id === null) {
      if (await findUserByEmail(tx, used.email))
        throw conflict(`${used.email} already has an account: sign in to accept the invitation.`);
      // Otherwise, any member could create accounts with credits while sign-up is closed.
      const credits = config.signup === "open" || isVouchedFor ? config.signupCredits : 0;
      const account = { id: userId, email: used.email, passwordHash, isAdmin: false, emailVerifiedAt, credits };
      user = await insertAccount(tx, { ...account, now: time });
    } else {
      const waiting = await findUserById(tx, userId);
      // A used account has its owner: an old link must not bypass the password or the second factor.
      if (!waiting || !isUnused(waiting)) throw unusableInvitation();
      await setPasswordHash(tx, userId, passwordHash);
      if (emailVerifiedAt !== null) await setEmailVerified(tx, userId, emailVerifiedAt);
      await takeTokensOf(tx, userId, "invitation", time);
      user = (await findUserById(tx, userId))!;
    }
    if (used.workspace_id !== null && (await findRole(tx, used.workspace_id, userId)) === null) {
      const role = readInvitedRole(used);
      await insertMember(tx, { workspace_id: used.workspace_id, user_id: userId, role, created_at: time });
    }
    const actor = toAuditActor(user.id, issued.row.id, client);
    const details = { invited_by: used.created_by };
    await recordAudit(tx, actor, { action: "user.invitation_accepted", target: user.id, details }, time);
    return insertStartedSession(tx, user, issued, "invitation", client);
  });
}

/** Returns whether the user may invite to the workspace; null: to the server. */
const mayInvite = async (tx: Queries, user: User, workspaceId: string | null): Promise<boolean> =>
  workspaceId === null
    ? isActiveAdmin(user)
    : user.disabled_at === null && user.deleted_at === null && (await findRole(tx, workspaceId, user.id)) === "owner";

const isUnused = (user: User): boolean =>
  user.password_hash === null && user.last_sign_in_at === null && user.disabled_at === null && user.deleted_at === null;

const UNUSABLE_INVITATION = "Invitation is invalid or has expired. Ask for a new one.";

const unusableInvitation = () => new AppError("unauthenticated", UNUSABLE_INVITATION);
