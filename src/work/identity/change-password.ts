/** The change of a password by its user. */
import { AppError } from "../../domain/errors";
import { deleteDeviceCodesOf } from "../../store/device-codes";
import { takeTokensOf } from "../../store/one-time-tokens";
import { deleteSessionsOf } from "../../store/sessions";
import { findUserById, setPasswordHash } from "../../store/users";
import { recordAudit } from "../access/audit";
import type { IdentityNeeds } from "./needs";
import { requireGoodPassword } from "./passwords";
import { requirePassword, toPasswordAttempt } from "./require-password";
import { type AccountOwner, toAttempt, toAuditActor, toPasswordKey } from "./sign-in";

/**
 * Changes the password, and ends all other sessions of the user, links that reset it and approvals of devices that have no key yet. Throws `AppError` `validation_error` for a wrong current password or one that
 * cannot be chosen; `rate_limited` after too many failures; `conflict` when it was changed meanwhile.
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
    if (stored?.password_hash !== user.password_hash)
      throw new AppError("conflict", "Password was changed by another request.");
    await setPasswordHash(tx, user.id, hash);
    await deleteSessionsOf(tx, user.id, sessionId);
    await deleteDeviceCodesOf(tx, user.id);
    // Whoever made the change necessary may have such a link.
    await takeTokensOf(tx, user.id, "password_reset", now());
    const actor = toAuditActor(user.id, sessionId, client);
    await recordAudit(tx, actor, { action: "user.password_changed", target: { kind: "user", id: user.id } }, now());
    await mails.queue(
      tx,
      { to: user.email, userId: user.id, template: "password_changed", values: { api_keys: null } },
      now(),
    );
  });
}
