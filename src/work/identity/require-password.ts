/** Confirmation of account changes by password: a stolen session must neither suffice nor allow guessing it. */
import type { AuditAction } from "../../domain/audit-actions";
import { type AppError, invalidField } from "../../domain/errors";
import type { User } from "../../store/users";
import { createSessionTooOldError } from "../access/access";
import { type AuditActor, recordAudit } from "../access/audit";
import type { IdentityNeeds } from "./needs";
import { type AccountOwner, type SignInClient, toAttempt, toAuditActor, toPasswordKey } from "./sign-in";

/** The user whose password is required, and the client that sends it. */
type PasswordAttempt = { user: User; client: SignInClient; actor: AuditActor };

/**
 * Throws `AppError` `validation_error` on the field of the body if this is not the user's password; `rate_limited`
 * after too many failures; `upstream_unavailable`. `refusal` is what the audit log records.
 */
export async function requirePassword(
  services: IdentityNeeds,
  { user, client, actor }: PasswordAttempt,
  { password, field, refusal }: { password: string; field: string; refusal: AuditAction },
): Promise<void> {
  const { now, passwords, signInLimits, store } = services;
  const attempt = await toAttempt(services, user.email, client);
  signInLimits.check(attempt);
  const findHash = async () => {
    // Others may have failed while this call waited.
    signInLimits.check(attempt);
    return user.password_hash;
  };
  if (await passwords.verify(toPasswordKey(client), password, findHash)) return;
  signInLimits.recordFailure(attempt);
  // A refused session has the user as its target.
  const target = { kind: "user", id: user.id };
  await store.write((tx) => recordAudit(tx, actor, { action: refusal, target }, now()));
  throw wrongSecret(field, "is wrong");
}

export const toPasswordAttempt = ({ user, sessionId, client }: AccountOwner): PasswordAttempt => ({
  user,
  client,
  actor: toAuditActor(user.id, sessionId, client),
});

/** Maximum time since sign-in for a user without a password. */
const MAX_NEW_SESSION_MS = 10 * 60_000;

/**
 * Throws `AppError` unless the owner of the session confirms a change with the password, in `body.password`. An account
 * without a password needs a sign-in within the last 10 minutes instead; otherwise, the error is `forbidden`. Other
 * errors: those of `requirePassword`.
 */
export async function requireConfirmation(
  services: IdentityNeeds,
  owner: AccountOwner,
  { password, refusal }: { password: string | undefined; refusal: AuditAction },
): Promise<void> {
  if (owner.user.password_hash === null) {
    if (owner.signedInMs > MAX_NEW_SESSION_MS) throw createSessionTooOldError();
    return;
  }
  if (password === undefined) throw wrongSecret("password", "is required");
  await requirePassword(services, toPasswordAttempt(owner), { password, field: "password", refusal });
}

/** Creates the error for a well-formed but wrong secret in a body, without repeating the secret. */
export const wrongSecret = (field: string, message: string): AppError => invalidField(`body.${field}`, message, null);
