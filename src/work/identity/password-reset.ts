/** The reset of a forgotten password, and the change of a known one. */
import { parseEmailAddress } from "../../domain/email-address";
import { AppError, conflict } from "../../domain/errors";
import type { Queries } from "../../store/db";
import { deleteDeviceCodesOf } from "../../store/device-codes";
import { deleteOidcIdentitiesOf } from "../../store/oidc-identities";
import { revokeTokensCreatedBy, takeTokensOf } from "../../store/one-time-tokens";
import { deleteCredentials } from "../../store/purge";
import { deleteRenderSharesBy } from "../../store/render-shares";
import { deleteSessionsOf, deleteSignInNetworksOf, recordSignInNetwork } from "../../store/sessions";
import { removeTwoFactor } from "../../store/two-factor";
import { findUserByEmail, findUserById, setEmailVerified, setPasswordHash, type User } from "../../store/users";
import { deleteEndpointsOf } from "../../store/webhooks";
import { listOwnWorkspaceIds } from "../../store/workspace-members";
import { recordAudit } from "../access/audit";
import type { MailNeeds } from "../mail/mails";
import { type AccountLink, findLinkWait, mailLink, toAccountLink, VERIFIES_ADDRESS } from "./account-links";
import type { IdentityNeeds } from "./needs";
import { createOneTimeToken, findOneTimeToken, useOneTimeToken } from "./one-time-tokens";
import { requireGoodPassword } from "./passwords";
import { requirePassword, toPasswordAttempt } from "./require-password";
import { type AccountOwner, type SignInClient, toAnonymous, toAttempt, toAuditActor, toPasswordKey } from "./sign-in";
import { toHomeNetwork } from "./sign-in-limits";

/**
 * Mails a link that resets the password, if the address has an account and the server sends mail. This runs in the
 * background, so that neither the response nor its timing reveals whether there is an account. Throws `AppError`
 * `rate_limited` after too many calls of the client.
 */
export function requestPasswordReset(services: IdentityNeeds, address: string, client: SignInClient): void {
  const { log, mails, now, signInLimits, store } = services;
  signInLimits.takeAnonymousCall(client.address);
  const email = parseEmailAddress(address);
  if (email === null || !mails.isConfigured) return;
  const sending = store.write(async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (!user || user.disabled_at !== null || (await findLinkWait(services, tx, user.id, "password_reset")) > 0) return;
    await mailLink(services, tx, user, "password_reset");
    await recordAudit(tx, toAnonymous(client), { action: "user.password_reset_requested", target: user.id }, now());
  });
  void sending.catch((error) => log.error("password_reset.failed", { error }));
}

/** Creates a link that resets the password, for an administrator to hand over. */
export async function createPasswordResetLink(
  services: MailNeeds,
  tx: Queries,
  user: Pick<User, "email" | "id">,
  createdBy: string,
): Promise<AccountLink> {
  const { id: userId, email } = user;
  const request = { purpose: "password_reset", userId, email, createdBy, now: services.now() } as const;
  return toAccountLink(services, "password_reset", await createOneTimeToken(tx, request));
}

/**
 * Sets the password with the token of a link. Ends all sessions of the user, and API keys unless they are kept; the
 * first link that proves the address also ends API keys, identities, the second factor, share links, invitations, and
 * webhook endpoints of workspaces without other members. Throws `AppError` `unauthenticated` if the link cannot be
 * used, `rate_limited` after too many of those; `validation_error` for a password that cannot be chosen, which leaves
 * the link as it is; `upstream_unavailable`.
 */
export async function resetPassword(
  services: IdentityNeeds,
  request: { token: string; password: string; keep_api_keys?: boolean },
  client: SignInClient,
): Promise<void> {
  const { mails, now, passwords, signInLimits, store } = services;
  const found = await findOneTimeToken(store.read, "password_reset", request.token, now());
  if (!found?.email) {
    signInLimits.takeAnonymousCall(client.address);
    throw unusableLink();
  }
  requireGoodPassword(request.password, found.email);
  const hash = await passwords.hash(toPasswordKey(client), request.password);
  await store.write(async (tx) => {
    const time = now();
    const used = await useOneTimeToken(tx, "password_reset", request.token, time);
    const user = used?.user_id ? await findUserById(tx, used.user_id) : null;
    if (!user || user.disabled_at !== null || user.email !== used?.email) throw unusableLink();
    await setPasswordHash(tx, user.id, hash);
    // Even if the link proves nothing: an identity linked to an unconfirmed address could be anyone's.
    if (user.email_verified_at === null) await deleteOidcIdentitiesOf(tx, user.id);
    const isProof = used.data?.[VERIFIES_ADDRESS] === true;
    // The owner of the address takes over the account, which somebody else may have created with the unconfirmed
    // address.
    const isFirstProof = isProof && user.email_verified_at === null;
    const keepsApiKeys = request.keep_api_keys === true && !isFirstProof;
    await deleteCredentials(tx, user.id, { keepsApiKeys });
    // Keeps only the owner's network: other people who signed in lose their separate attempts.
    await deleteSignInNetworksOf(tx, user.id);
    const network = toHomeNetwork(client.address);
    if (network !== null) await recordSignInNetwork(tx, user.id, network, time);
    if (isFirstProof) {
      await removeTwoFactor(tx, user.id);
      // They would report the owner's activity to the stranger, share files and let others in.
      for (const id of await listOwnWorkspaceIds(tx, user.id)) await deleteEndpointsOf(tx, id);
      await deleteRenderSharesBy(tx, user.id);
      await revokeTokensCreatedBy(tx, user.id, "all", time);
    }
    if (isProof) await setEmailVerified(tx, user.id, time);
    // An attacker who made the reset necessary may have another link.
    await takeTokensOf(tx, user.id, "password_reset", time);
    const details = { api_keys: keepsApiKeys ? "kept" : "revoked" };
    await recordAudit(tx, toAnonymous(client), { action: "user.password_reset", target: user.id, details }, time);
    const values = { api_keys: keepsApiKeys ? null : "revoked" } as const;
    await mails.queue(tx, { to: user.email, userId: user.id, template: "password_changed", values }, time);
  });
}

const unusableLink = () => new AppError("unauthenticated", "Link is invalid or has expired. Ask for a new one.");

/**
 * Changes the password, and ends all other sessions of the user, links that reset it and approvals of devices that have
 * no key yet. Throws `AppError` `validation_error` for a wrong current password or one that cannot be chosen;
 * `rate_limited` after too many failures; `conflict` when it was changed in the meantime.
 */
export async function changePassword(
  services: IdentityNeeds,
  owner: AccountOwner,
  request: { current_password: string; password: string },
): Promise<void> {
  const { mails, now, passwords, signInLimits, store } = services;
  const { user, sessionId, client } = owner;
  requireGoodPassword(request.password, user.email);
  const refusal = "user.password_change_refused";
  const current = { password: request.current_password, field: "current_password", refusal } as const;
  await requirePassword(services, toPasswordAttempt(owner), current);
  signInLimits.recordSuccess(await toAttempt(services, user.email, client));
  const hash = await passwords.hash(toPasswordKey(client), request.password);
  await store.write(async (tx) => {
    const stored = await findUserById(tx, user.id);
    if (stored?.password_hash !== user.password_hash) throw conflict("Password was changed by another request.");
    await setPasswordHash(tx, user.id, hash);
    await deleteSessionsOf(tx, user.id, sessionId);
    await deleteDeviceCodesOf(tx, user.id);
    // An attacker who made the change necessary may have such a link.
    await takeTokensOf(tx, user.id, "password_reset", now());
    const actor = toAuditActor(user.id, sessionId, client);
    await recordAudit(tx, actor, { action: "user.password_changed", target: user.id }, now());
    await mails.queue(
      tx,
      { to: user.email, userId: user.id, template: "password_changed", values: { api_keys: null } },
      now(),
    );
  });
}
