/** The change of a password by its user. */
import { AppError } from "../../domain/errors";
import { takeTokensOf } from "../../store/one-time-tokens";
import { deleteSessionsOf } from "../../store/sessions";
import { getUser, setPasswordHash } from "../../store/users";
import { recordAudit } from "../audit";
import type { Services } from "../services";
import { requireGoodPassword } from "./passwords";
import { requirePassword } from "./require-password";
import { type AccountOwner, toAuditActor, toPasswordKey } from "./sign-in";

/**
 * Changes the password, and ends all other sessions of the user and links that reset it. Throws `AppError` `validation_error` for a wrong current password or one that
 * cannot be chosen; `rate_limited` after too many failures; `conflict` when it was changed meanwhile.
 */
export async function changePassword(
  services: Pick<Services, "mails" | "now" | "passwords" | "signInLimits" | "store">,
  owner: AccountOwner,
  request: { current_password: string; password: string },
): Promise<void> {
  const { mails, now, passwords, signInLimits, store } = services;
  const { user, sessionId, client } = owner;
  requireGoodPassword(request.password, user.email);
  const refusal = "user.password_change_refused";
  await requirePassword(services, owner, { password: request.current_password, field: "current_password", refusal });
  signInLimits.recordSuccess({ account: user.email, address: client.address });
  const hash = await passwords.hash(toPasswordKey(client), request.password);
  await store.write(async (tx) => {
    const current = await getUser(tx, user.id);
    if (current?.password_hash !== user.password_hash)
      throw new AppError("conflict", "Password was changed by another request.");
    await setPasswordHash(tx, user.id, hash);
    await deleteSessionsOf(tx, user.id, sessionId);
    // A link may be in the hands of who made the change necessary.
    await takeTokensOf(tx, user.id, "password_reset", now());
    const actor = toAuditActor(user.id, sessionId, client);
    await recordAudit(tx, actor, { action: "user.password_changed", target: { kind: "user", id: user.id } }, now());
    await mails.queue(tx, { to: user.email, userId: user.id, template: "password_changed", values: {} }, now());
  });
}
