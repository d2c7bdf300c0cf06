/** Email verification. */
import { AppError, conflict, retryLater } from "../../domain/errors";
import type { Queries } from "../../store/db";
import { deleteOidcIdentitiesOf } from "../../store/oidc-identities";
import type { OneTimeToken } from "../../store/one-time-tokens";
import { findUserById, setEmailVerified, type User } from "../../store/users";
import { recordAudit } from "../access/audit";
import { findLinkWait, mailLink } from "./account-links";
import type { IdentityNeeds } from "./needs";
import { findOneTimeToken, useOneTimeToken } from "./one-time-tokens";
import { requirePassword, wrongSecret } from "./require-password";
import { type SignInClient, toAnonymous } from "./sign-in";

/**
 * Mails the user a link that confirms the address. Throws `AppError` `conflict` when the address is confirmed or the
 * server sends no mails; `rate_limited` when too many were sent within an hour.
 */
export async function requestVerification(services: IdentityNeeds, { id }: Pick<User, "id">): Promise<void> {
  const { mails, store } = services;
  if (!mails.isConfigured) throw conflict("This server sends no mails: ask an administrator.");
  await store.write(async (tx) => {
    const user = await findUserById(tx, id);
    if (user && user.email_verified_at !== null) throw conflict("Email address is already confirmed.");
    const waitMs = await findLinkWait(services, tx, id, "email_verification");
    if (waitMs > 0)
      throw retryLater(
        "rate_limited",
        "Too many mails were sent. Check your mailbox, or retry later.",
        Math.ceil(waitMs / 1000),
      );
    if (user) await mailLink(services, tx, user, "email_verification");
  });
}

/** The client that confirms an address. `userId`: the user of its session, null without a session. */
type Confirming = { client: SignInClient; userId: string | null };

/**
 * Confirms the address that the link was sent to. Requires a session of the account or its password: access to the
 * mailbox alone must not confirm an account that a stranger has created with the address. Throws `AppError`
 * `unauthenticated` if the link cannot be used, or the account has no password and the client no session of it;
 * `validation_error` on `body.password`, which leaves the link as it is; `rate_limited`; `upstream_unavailable`.
 */
export async function verifyEmail(
  services: IdentityNeeds,
  { token, password }: { token: string; password?: string },
  { client, userId }: Confirming,
): Promise<void> {
  const { now, signInLimits, store } = services;
  signInLimits.takeAnonymousCall(client.address);
  const time = now();
  const owner = await getOwner(store.read, await findOneTimeToken(store.read, "email_verification", token, time));
  if (owner.id !== userId) {
    if (owner.password_hash === null) throw new AppError("unauthenticated", "Sign in, then open the link again.");
    if (password === undefined) throw wrongSecret("password", "is required without a session of the account");
    const proof = { password, field: "password", refusal: "session.refused" } as const;
    await requirePassword(services, { user: owner, client, actor: toAnonymous(client) }, proof);
  }
  await store.write(async (tx) => {
    const user = await getOwner(tx, await useOneTimeToken(tx, "email_verification", token, time));
    await confirmAddress(tx, user, time);
    await recordAudit(tx, toAnonymous(client), { action: "user.email_verified", target: user.id }, time);
  });
}

/** Confirms the address of a user who has a session or the password, as well as a link sent to the address. */
export async function confirmAddress(tx: Queries, user: User, now: number): Promise<void> {
  // A stranger may have linked an identity. If it is the only way to sign in, it is the confirming user's.
  if (user.email_verified_at === null && user.password_hash !== null) await deleteOidcIdentitiesOf(tx, user.id);
  await setEmailVerified(tx, user.id, now);
}

/** Returns the account of a link. Throws `AppError` `unauthenticated`. */
async function getOwner(db: Queries, link: OneTimeToken | null): Promise<User> {
  const user = link?.user_id ? await findUserById(db, link.user_id) : null;
  if (!user || user.disabled_at !== null || user.email !== link?.email)
    throw new AppError("unauthenticated", "Link is invalid or has expired. Sign in to ask for a new one.");
  return user;
}
