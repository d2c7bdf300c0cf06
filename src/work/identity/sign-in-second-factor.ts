/** The second step of a sign-in: the answer to a challenge. */
import type { SecondFactorMethod } from "../../domain/access";
import { AppError } from "../../domain/errors";
import { isEqualSecret } from "../../lib/hash";
import type { Queries } from "../../store/db";
import { countFailedAttempt, type OneTimeToken } from "../../store/one-time-tokens";
import { countRecoveryCodes, takeRecoveryCode, takeTotpStep } from "../../store/two-factor";
import { findUserById, type User } from "../../store/users";
import { recordAudit } from "../access/audit";
import type { IdentityNeeds } from "./needs";
import { findOneTimeToken, useOneTimeToken } from "./one-time-tokens";
import { insertStartedSession, type SignInClient, type StartedSession, toAnonymous, toAttempt } from "./sign-in";
import { type ChallengeData, hashMailedCode, toPasswordMark } from "./sign-in-challenge";
import { hashRecoveryCode, openTotpSecret, verifyTotpCode } from "./totp";

const MAX_ATTEMPTS = 5;

const unusableChallenge = () =>
  new AppError("unauthenticated", "This sign-in has expired or had too many wrong codes. Sign in again.");
const wrongCode = () => new AppError("unauthenticated", "Code is wrong, has expired or was used.");

/**
 * Completes a sign-in with a code of the authenticator, a recovery code or a mailed one. Each works once. Throws
 * `AppError` `unauthenticated`; `rate_limited` after too many failures.
 */
export async function signInWithSecondFactor(
  services: IdentityNeeds,
  request: { challenge: string; code: string },
  client: SignInClient,
): Promise<StartedSession> {
  const { now, sessions, signInLimits, store } = services;
  const found = await findOneTimeToken(store.read, "sign_in_challenge", request.challenge, now());
  if (!found?.user_id || !found.email) {
    signInLimits.takeAnonymousCall(client.address);
    throw unusableChallenge();
  }
  // A correct password does not clear these failures: otherwise, someone who knows it could guess codes forever.
  const attempt = await toAttempt(services, found.email, client);
  signInLimits.check(attempt);
  const issued = await sessions.issue(found.user_id, client);
  const result = await store.write(async (tx): Promise<StartedSession | "unusable" | "wrong"> => {
    const time = now();
    // Concurrent answers to many challenges: earlier ones may have failed in the meantime.
    signInLimits.check(attempt);
    const token = await findOneTimeToken(tx, "sign_in_challenge", request.challenge, time);
    const user = token?.user_id ? await findUserById(tx, token.user_id) : null;
    if (!token || !user || !isStillValid(token, user)) return "unusable";
    const method = await takeCode(services, tx, { user, token, ...request });
    if (method === null) {
      signInLimits.recordFailure(attempt);
      await countFailedAttempt(tx, token.id, { maxAttempts: MAX_ATTEMPTS, now: time });
      const target = { kind: "user", id: user.id };
      const details = { step: "second_factor" };
      await recordAudit(tx, toAnonymous(client), { action: "session.refused", target, details }, time);
      return "wrong";
    }
    await useOneTimeToken(tx, "sign_in_challenge", request.challenge, time);
    return insertStartedSession(tx, user, issued, method, client);
  });
  if (result === "unusable") throw unusableChallenge();
  if (result === "wrong") throw wrongCode();
  signInLimits.recordSuccess(attempt);
  return result;
}

const isStillValid = ({ data }: OneTimeToken, user: User): boolean =>
  user.disabled_at === null && user.two_factor_enabled && (data as ChallengeData).password === toPasswordMark(user);

/** Uses up the code. Returns the sign-in method; null if the code is wrong or was used. */
async function takeCode(
  { mails, now, sealer }: IdentityNeeds,
  tx: Queries,
  { user, token, challenge, code }: { user: User; token: OneTimeToken; challenge: string; code: string },
): Promise<SecondFactorMethod | null> {
  const time = now();
  const typed = code.replace(/\s/g, "");
  const { code: mailedCode } = token.data as ChallengeData;
  if (mailedCode !== null) return isEqualSecret(hashMailedCode(challenge, typed), mailedCode) ? "email" : null;
  const secret = openTotpSecret(sealer, user, "totp_secret");
  const step = secret === null ? null : verifyTotpCode(secret, typed, time, user.totp_last_step);
  if (step !== null) return (await takeTotpStep(tx, user.id, step)) ? "totp" : null;
  const hash = hashRecoveryCode(user.id, code);
  if (hash === null || !(await takeRecoveryCode(tx, user.id, hash, time))) return null;
  const values = { remaining: await countRecoveryCodes(tx, user.id) };
  await mails.queue(tx, { to: user.email, userId: user.id, template: "recovery_code_used", values }, time);
  return "recovery";
}
