/** Invitations: links that lead to an account, and perhaps to a workspace. */
import type { WorkspaceRole } from "../../domain/access";
import { AppError } from "../../domain/errors";
import { newId } from "../../lib/ids";
import type { Queries } from "../../store/db";
import { countTokensCreatedBy, takeTokensOf } from "../../store/one-time-tokens";
import { findUserByEmail, getUser, setEmailVerified, setPasswordHash, type User } from "../../store/users";
import { readInvitedRole, toInvitedRole } from "../../store/workspace-invitations";
import { findRole, findWorkspaceName, insertMember } from "../../store/workspaces";
import { recordAudit } from "../audit";
import type { Services } from "../services";
import { type AccountLink, toAccountLink, VERIFIES_ADDRESS } from "./account-links";
import { insertAccount } from "./new-account";
import { createOneTimeToken, findOneTimeToken, useOneTimeToken } from "./one-time-tokens";
import { requireGoodPassword } from "./passwords";
import { insertStartedSession, type SignInClient, type StartedSession, toAuditActor, toPasswordKey } from "./sign-in";

/** Who is invited: an account without a password, or with `userId` null an address for which acceptance creates one. */
type Invitation = {
  email: string;
  userId: string | null;
  /** The workspace that the invitation leads to, and the role there; null: only the personal one. */
  workspace: { id: string; role: WorkspaceRole } | null;
  invitedBy: Pick<User, "email" | "first_name" | "id" | "is_admin" | "last_name">;
};

const HOUR_MS = 3600_000;
const MAX_INVITATIONS_PER_HOUR = 50;

/**
 * Creates an invitation, and mails its link where the server sends mails. Throws `AppError` `rate_limited` when somebody who is no
 * administrator invites too many: the mails go to addresses that never asked for them.
 */
export async function createInvitation(
  services: Pick<Services, "mails" | "now" | "publicUrl">,
  tx: Queries,
  { email, userId, workspace, invitedBy }: Invitation,
): Promise<AccountLink> {
  const now = services.now();
  const recent = invitedBy.is_admin ? 0 : await countTokensCreatedBy(tx, invitedBy.id, now - HOUR_MS);
  if (recent >= MAX_INVITATIONS_PER_HOUR)
    throw new AppError("rate_limited", `At most ${MAX_INVITATIONS_PER_HOUR} invitations an hour. Retry later.`, {
      retryAfterSeconds: HOUR_MS / 1000,
    });
  const issued = await createOneTimeToken(tx, {
    purpose: "invitation",
    userId,
    email,
    workspaceId: workspace?.id ?? null,
    createdBy: invitedBy.id,
    // An administrator vouches for the address. Others also see the link, so that its use proves nothing.
    createData: () => ({ [VERIFIES_ADDRESS]: invitedBy.is_admin, ...toInvitedRole(workspace?.role ?? null) }),
    now,
  });
  const link = toAccountLink(services, "invitation", issued);
  const values = {
    url: link.url,
    workspace: workspace && (await findWorkspaceName(tx, workspace.id)),
    invited_by: formatInviter(invitedBy),
    expires_at: link.expiresAt,
  };
  await services.mails.queue(tx, { to: email, userId, template: "invitation", values }, now);
  return link;
}

const formatInviter = ({ first_name: first, last_name: last, email }: Invitation["invitedBy"]): string =>
  [first, last].filter(Boolean).join(" ") || email;

/**
 * Accepts an invitation: sets the password of the account, which is created if there is none, and starts a session. Throws `AppError`
 * `unauthenticated` if the invitation cannot be used, `rate_limited` after too many of those; `conflict` if the address has got an account meanwhile; `validation_error` for a
 * password that cannot be chosen, which leaves the invitation as it is; `upstream_unavailable`.
 */
export async function acceptInvitation(
  services: Pick<Services, "config" | "now" | "passwords" | "sessions" | "signInLimits" | "store">,
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
  const passwordHash = await passwords.hash(toPasswordKey(client), request.password);
  const userId = found.user_id ?? newId();
  const issued = await sessions.issue(userId, client);
  return store.write(async (tx) => {
    const time = issued.row.created_at;
    const used = await useOneTimeToken(tx, "invitation", request.token, time);
    if (!used?.email) throw unusableInvitation();
    const emailVerifiedAt = used.data?.[VERIFIES_ADDRESS] === true ? time : null;
    let user: User;
    if (used.user_id === null) {
      if (await findUserByEmail(tx, used.email))
        throw new AppError("conflict", `${used.email} already has an account: sign in, and ask to be added.`);
      // Otherwise, any member could make accounts with credits while sign-up is closed.
      const credits = config.signup === "open" || used.data?.[VERIFIES_ADDRESS] === true ? config.signupCredits : 0;
      const account = { id: userId, email: used.email, passwordHash, isAdmin: false, emailVerifiedAt, credits };
      user = await insertAccount(tx, { ...account, now: time });
    } else {
      const waiting = await getUser(tx, userId);
      // An account that was used has its owner: an old link must not be a way around the password or the second factor.
      if (!waiting || !isUnused(waiting)) throw unusableInvitation();
      await setPasswordHash(tx, userId, passwordHash);
      if (emailVerifiedAt !== null) await setEmailVerified(tx, userId, emailVerifiedAt);
      await takeTokensOf(tx, userId, "invitation", time);
      user = (await getUser(tx, userId))!;
    }
    if (used.workspace_id !== null && (await findRole(tx, used.workspace_id, userId)) === null) {
      const role = readInvitedRole(used);
      await insertMember(tx, { workspace_id: used.workspace_id, user_id: userId, role, created_at: time });
    }
    const actor = toAuditActor(user.id, issued.row.id, client);
    const target = { kind: "user", id: user.id };
    const details = { invited_by: used.created_by };
    await recordAudit(tx, actor, { action: "user.invitation_accepted", target, details }, time);
    return insertStartedSession(tx, user, issued, "invitation", client);
  });
}

const isUnused = (user: User): boolean =>
  user.password_hash === null && user.last_sign_in_at === null && user.disabled_at === null && user.deleted_at === null;

const unusableInvitation = () =>
  new AppError("unauthenticated", "Invitation is invalid or has expired. Ask for a new one.");
