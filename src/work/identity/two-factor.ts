/** The second factor of an account: its enrollment, and whether sign-in asks for it. */
import { conflict, requireFound } from "../../domain/errors";
import type { Queries } from "../../store/db";
import { deleteSessionsOf } from "../../store/sessions";
import { completeTotpEnrollment, removeTwoFactor, replaceCodes, startTotpEnrollment } from "../../store/two-factor";
import { findUserById, type User, updateProfile } from "../../store/users";
import { recordAudit } from "../access/audit";
import { canMail } from "../mail/mails";
import type { IdentityNeeds } from "./needs";
import { requireConfirmation, wrongSecret } from "./require-password";
import { type AccountOwner, toAuditActor } from "./sign-in";
import { createRecoveryCodes, createTotpSecret, openTotpSecret, sealTotpSecret, verifyTotpCode } from "./totp";

/**
 * Creates an authenticator, which replaces one that was not confirmed. Only the returned value contains the secret and
 * the codes. Throws `AppError` `conflict` if the account has one.
 */
export async function enrollAuthenticator({ now, sealer }: IdentityNeeds, tx: Queries, { id }: Pick<User, "id">) {
  const user = requireFound(await findUserById(tx, id), "Account");
  if (user.totp_secret !== null) throw conflict("Account has an authenticator. Remove it first to set up another one.");
  const { secret, url } = createTotpSecret(user.email);
  const { codes, rows } = createRecoveryCodes(id, now());
  await startTotpEnrollment(tx, id, { secret: sealTotpSecret(sealer, id, "totp_pending_secret", secret), codes: rows });
  return { secret, otpauth_url: url, recovery_codes: codes };
}

/**
 * Confirms the authenticator with one of its codes: sign-in asks for it from now on. Throws `AppError` `conflict`
 * without an enrollment; `validation_error` for a wrong code.
 */
export async function confirmAuthenticator(services: IdentityNeeds, owner: AccountOwner, code: string): Promise<void> {
  const { now, sealer, store } = services;
  const { id } = owner.user;
  await store.write(async (tx) => {
    const user = await findUserById(tx, id);
    const secret = user && openTotpSecret(sealer, user, "totp_pending_secret");
    if (!user || !secret) throw conflict("No authenticator waits for its first code.");
    const step = verifyTotpCode(secret, code.replace(/\s/g, ""), now(), null);
    if (step === null) throw wrongSecret("code", "is wrong or has expired");
    await completeTotpEnrollment(tx, id, {
      secret: sealTotpSecret(sealer, id, "totp_secret", secret),
      step,
      now: now(),
    });
    await completeChange(services, tx, owner, true);
  });
}

/**
 * Throws `AppError` unless the owner confirms a change of the second factor: a stolen session must neither switch it
 * off nor lock its owner out. Errors: those of `requireConfirmation`.
 */
export const confirmTwoFactorChange = (services: IdentityNeeds, owner: AccountOwner, password: string | undefined) =>
  requireConfirmation(services, owner, { password, refusal: "user.two_factor_change_refused" });

/**
 * Replaces the recovery codes, and returns the new ones. Throws `AppError` `conflict` without an authenticator; errors
 * of `confirmTwoFactorChange`.
 */
export async function replaceRecoveryCodes(
  services: IdentityNeeds,
  owner: AccountOwner,
  password: string | undefined,
): Promise<string[]> {
  await confirmTwoFactorChange(services, owner, password);
  const { id } = owner.user;
  const now = services.now();
  const { codes, rows } = createRecoveryCodes(id, now);
  await services.store.write(async (tx) => {
    const user = await findUserById(tx, id);
    if (!user?.totp_secret) throw conflict("Account has no authenticator that recovery codes could replace.");
    const activated = rows.map((row) => ({ ...row, activated_at: now }));
    await replaceCodes(tx, id, activated);
    const actor = toAuditActor(id, owner.sessionId, owner.client);
    await recordAudit(tx, actor, { action: "user.recovery_codes_replaced", target: id }, now);
  });
  return codes;
}

/**
 * Removes the authenticator and its recovery codes: sign-in asks for the password only. Errors: those of
 * `confirmTwoFactorChange`.
 */
export async function removeAuthenticator(
  services: IdentityNeeds,
  owner: AccountOwner,
  password: string | undefined,
): Promise<void> {
  await confirmTwoFactorChange(services, owner, password);
  await services.store.write(async (tx) => {
    const before = await findUserById(tx, owner.user.id);
    await removeTwoFactor(tx, owner.user.id);
    if (before?.two_factor_enabled || before?.totp_secret) await completeChange(services, tx, owner, false);
  });
}

/**
 * Sets whether sign-in asks for a second factor. Returns the changed user, null if the account no longer exists. Throws
 * `AppError` `conflict` if the user has no authenticator and codes cannot be mailed.
 */
export async function setTwoFactorEnabled(
  services: IdentityNeeds,
  tx: Queries,
  owner: AccountOwner,
  isEnabled: boolean,
): Promise<User | null> {
  const user = await findUserById(tx, owner.user.id);
  if (!user || user.two_factor_enabled === isEnabled) return user;
  if (isEnabled && user.totp_secret === null && !canMail(services, user))
    throw conflict(
      services.mails.isConfigured
        ? "Account has no second factor: set up an authenticator, or confirm the email address first."
        : "Account has no second factor: set up an authenticator first.",
    );
  await completeChange(services, tx, owner, isEnabled);
  return updateProfile(tx, user.id, { two_factor_enabled: isEnabled });
}

/** Ends the other sessions of the user, records the change and mails it. */
async function completeChange(
  { mails, now }: IdentityNeeds,
  tx: Queries,
  { user, sessionId, client }: AccountOwner,
  isEnabled: boolean,
): Promise<void> {
  await deleteSessionsOf(tx, user.id, sessionId);
  const record = { action: "user.two_factor_changed", target: user.id, details: { enabled: isEnabled } } as const;
  await recordAudit(tx, toAuditActor(user.id, sessionId, client), record, now());
  const values = { is_enabled: isEnabled };
  await mails.queue(tx, { to: user.email, userId: user.id, template: "two_factor_changed", values }, now());
}
