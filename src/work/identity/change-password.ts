/** The change of a password by its user. */
import { AppError } from "../../domain/errors";
import { deleteSessionsOf } from "../../store/sessions";
import { getUser, setPasswordHash, type User } from "../../store/users";
import { recordAudit } from "../audit";
import type { Services } from "../services";
import { requireGoodPassword } from "./passwords";
import { type SignInClient, toAuditActor, toPasswordKey } from "./sign-in";

/**
 * Changes the password and ends all other sessions of the user. Throws `AppError` `validation_error` for a wrong current password or one that
 * cannot be chosen; `rate_limited` after too many failures; `conflict` when it was changed meanwhile.
 */
export async function changePassword(
  services: Pick<Services, "now" | "passwords" | "signInLimits" | "store">,
  user: User,
  sessionId: string,
  request: { current_password: string; password: string },
  client: SignInClient,
): Promise<void> {
  const { now, passwords, signInLimits, store } = services;
  requireGoodPassword(request.password, user.email);
  // A stolen session must not be able to guess the password.
  const attempt = { account: user.email, address: client.address };
  const key = toPasswordKey(client);
  signInLimits.check(attempt);
  const beforeHash = () => signInLimits.check(attempt);
  const actor = toAuditActor(user.id, sessionId, client);
  const target = { kind: "user", id: user.id };
  if (!(await passwords.verify(key, request.current_password, user.password_hash, beforeHash))) {
    signInLimits.recordFailure(attempt);
    await store.write((tx) => recordAudit(tx, actor, { action: "user.password_change_refused", target }, now()));
    const message = "is wrong";
    const field = {
      field: "body.current_password",
      message,
      type: "value_error",
      input: null,
      context: { error: message },
    };
    throw new AppError("validation_error", "Current password is wrong.", { fields: [field] });
  }
  signInLimits.recordSuccess(attempt);
  const hash = await passwords.hash(key, request.password);
  await store.write(async (tx) => {
    const current = await getUser(tx, user.id);
    if (current?.password_hash !== user.password_hash)
      throw new AppError("conflict", "Password was changed by another request.");
    await setPasswordHash(tx, user.id, hash);
    await deleteSessionsOf(tx, user.id, sessionId);
    await recordAudit(tx, actor, { action: "user.password_changed", target }, now());
  });
}
