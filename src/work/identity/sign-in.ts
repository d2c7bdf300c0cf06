/** Sign-in with a password, and the start of sessions for all sign-in methods. */
import type { SecondFactorMethod } from "../../domain/access";
import { parseEmailAddress } from "../../domain/email-address";
import { AppError } from "../../domain/errors";
import type { Queries } from "../../store/db";
import { hasSignedInFrom, insertSession, recordSignInNetwork, type Session } from "../../store/sessions";
import { findUserByEmail, findUserById, recordSignIn, type User } from "../../store/users";
import { type AuditActor, recordAudit } from "../access/audit";
import type { CoreNeeds } from "../needs";
import type { IdentityNeeds } from "./needs";
import type { IssuedSession } from "./sessions";
import { needsSecondFactor, type SecondFactorChallenge, startSecondFactor } from "./sign-in-challenge";
import { type SignInAttempt, toHomeNetwork, toNetwork } from "./sign-in-limits";

/** The client, for the list of sessions, the limits and the audit log. `address` null: unknown. */
export type SignInClient = { address: string | null; userAgent: string | null; requestId: string };

/** A user who changes their own account, with the session. `signedInMs`: time since the sign-in. */
export type AccountOwner = { user: User; sessionId: string; signedInMs: number; client: SignInClient };

/** A session that has begun. Only this value contains the token. */
export type StartedSession = { token: string; session: Session; user: User };

export type SignInResult = ({ kind: "session" } & StartedSession) | ({ kind: "second_factor" } & SecondFactorChallenge);

/** Method with which a user signed in, for the audit log. */
export type SignInMethod = "oidc" | "password" | "setup" | "sign_up" | "invitation" | SecondFactorMethod;

/** Returns the key for the password queue: the client's network, so that its addresses share a turn. */
export const toPasswordKey = (client: SignInClient): string => toNetwork(client.address);

/** Creates a client's attempt for an address, even if it has no account. */
export async function toAttempt(
  { store }: CoreNeeds,
  account: string,
  { address }: SignInClient,
): Promise<SignInAttempt> {
  const [email, network] = [parseEmailAddress(account), toHomeNetwork(address)];
  const isKnown = email !== null && network !== null && (await hasSignedInFrom(store.read, email, network));
  return { account, address, knownNetwork: isKnown ? network : null };
}

/**
 * Signs in with a password. Neither the error nor its timing reveals whether the address has an account. Throws
 * `AppError` `unauthenticated`; `rate_limited` after too many failures; `upstream_unavailable` when too many sign in at
 * once.
 */
export async function signIn(
  services: IdentityNeeds,
  credentials: { email: string; password: string },
  client: SignInClient,
): Promise<SignInResult> {
  const { passwords, signInLimits, store } = services;
  const attempt = await toAttempt(services, credentials.email, client);
  signInLimits.check(attempt);
  const email = parseEmailAddress(credentials.email);
  const found: { user: User | null } = { user: null };
  const isCorrect = await passwords.verify(toPasswordKey(client), credentials.password, async () => {
    // Others may have failed while this call waited.
    signInLimits.check(attempt);
    found.user = email === null ? null : await findUserByEmail(store.read, email);
    return found.user?.password_hash ?? null;
  });
  const { user } = found;
  if (!user || !isCorrect || user.disabled_at !== null) {
    signInLimits.recordFailure(attempt);
    await recordFailedSignIn(services, user, client);
    throw wrongCredentials();
  }
  // Failures are kept until the second factor is right: someone who knows the password could guess codes forever.
  if (needsSecondFactor(user)) return { kind: "second_factor", ...(await startSecondFactor(services, user)) };
  signInLimits.recordSuccess(attempt);
  return { kind: "session", ...(await startSession(services, user, "password", client)) };
}

const wrongCredentials = () => new AppError("unauthenticated", "Email address or password is wrong.");

/** Does not record the typed address if it is unknown: it may be a password in the wrong field. */
async function recordFailedSignIn(services: IdentityNeeds, user: User | null, client: SignInClient): Promise<void> {
  const now = services.now();
  const target = user && { kind: "user", id: user.id };
  await services.store.write((tx) => recordAudit(tx, toAnonymous(client), { action: "session.refused", target }, now));
}

/**
 * Starts a session for a user who has signed in. Throws `AppError` `unauthenticated` if the account was disabled,
 * deleted or given another password since `user` was read.
 */
export async function startSession(services: IdentityNeeds, user: User, method: SignInMethod, client: SignInClient) {
  const issued = await services.sessions.issue(user.id, client);
  return services.store.write(async (tx) => {
    const current = await findUserById(tx, user.id);
    if (!current || current.disabled_at !== null || current.password_hash !== user.password_hash)
      throw wrongCredentials();
    return insertStartedSession(tx, current, issued, method, client);
  });
}

/** Starts an issued session in this transaction. */
export async function insertStartedSession(
  tx: Queries,
  user: User,
  issued: IssuedSession,
  method: SignInMethod,
  client: SignInClient,
): Promise<StartedSession> {
  const session = await insertSession(tx, issued.row);
  const now = session.created_at;
  await recordSignIn(tx, user.id, now);
  const network = toHomeNetwork(client.address);
  if (network !== null) await recordSignInNetwork(tx, user.id, network, now);
  const actor = toAuditActor(user.id, session.id, client);
  await recordAudit(tx, actor, { action: "session.created", target: session.id, details: { method } }, now);
  return { token: issued.token, session, user };
}

export const toAuditActor = (userId: string, credentialId: string, client: SignInClient): AuditActor => ({
  kind: "user",
  userId,
  credentialId,
  address: client.address,
  requestId: client.requestId,
});

/** Returns a client who is not authenticated as an actor of the audit log. */
export const toAnonymous = (client: SignInClient): AuditActor => ({
  kind: "anonymous",
  userId: null,
  credentialId: null,
  address: client.address,
  requestId: client.requestId,
});
