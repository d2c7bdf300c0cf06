/** The password as a condition of changes to an account: a stolen session must not be enough, and must not be able to guess it. */
import type { AuditAction } from "../../domain/audit-actions";
import { AppError } from "../../domain/errors";
import { recordAudit } from "../audit";
import type { Services } from "../services";
import { type AccountOwner, toAuditActor, toPasswordKey } from "./sign-in";

/**
 * Throws `AppError` `validation_error` on the field of the body if this is not the owner's password; `rate_limited` after too many failures;
 * `upstream_unavailable`. `refusal` is what the audit log records.
 */
export async function requirePassword(
  services: Pick<Services, "now" | "passwords" | "signInLimits" | "store">,
  { user, sessionId, client }: AccountOwner,
  { password, field, refusal }: { password: string; field: string; refusal: AuditAction },
): Promise<void> {
  const { now, passwords, signInLimits, store } = services;
  const attempt = { account: user.email, address: client.address };
  signInLimits.check(attempt);
  const findHash = async () => {
    // Calls that have waited may have failed meanwhile.
    signInLimits.check(attempt);
    return user.password_hash;
  };
  if (await passwords.verify(toPasswordKey(client), password, findHash)) return;
  signInLimits.recordFailure(attempt);
  const actor = toAuditActor(user.id, sessionId, client);
  await store.write((tx) => recordAudit(tx, actor, { action: refusal, target: { kind: "user", id: user.id } }, now()));
  throw wrongSecret(field, "is wrong");
}

/** Creates the error for a secret in a body that is well-formed but wrong. It does not repeat the secret. */
export const wrongSecret = (field: string, message: string): AppError =>
  new AppError("validation_error", "Request body has invalid fields.", {
    fields: [{ field: `body.${field}`, message, type: "value_error", input: null, context: { error: message } }],
  });
