/** The account of a person who has signed in at an OpenID Connect provider, and its identities there. */

import type { Config } from "../../config";
import { isPlainAddress, parseEmailAddress } from "../../domain/email-address";
import { AppError, conflict, notFound } from "../../domain/errors";
import type { OidcIdentity, OidcProvider } from "../../domain/oidc";
import type { Queries } from "../../store/db";
import {
  deleteOidcIdentity,
  findOidcIdentity,
  insertOidcIdentity,
  listOidcIdentities,
  touchOidcIdentity,
} from "../../store/oidc-identities";
import { takeTokensOf } from "../../store/one-time-tokens";
import { deleteSessionsOf } from "../../store/sessions";
import {
  countOtherAdmins,
  findUserByEmail,
  findUserById,
  hasAdministrator,
  setEmailVerified,
  type User,
  updateProfile,
} from "../../store/users";
import { type AuditActor, recordAudit } from "../access/audit";
import type { Mails } from "../mail/mails";
import { changeAccountState } from "./administrators";
import type { IdentityNeeds } from "./needs";
import { insertAccount } from "./new-account";
import { type AccountOwner, toAuditActor } from "./sign-in";

/** `actor`: anonymous, with the client's address. */
type SignInContext = {
  config: Pick<Config, "signup" | "signupCredits">;
  mails: Mails;
  actor: AuditActor;
  now: number;
};

/**
 * Returns the user of an identity: known from an earlier sign-in, linked by a confirmed address, or new. Makes the user
 * an administrator, or an ordinary user again, as the provider's groups say. Throws `AppError` `forbidden` when the
 * identity belongs to no account and may not get one; `unauthenticated` for a disabled account.
 */
export async function resolveOidcUser(
  tx: Queries,
  provider: OidcProvider,
  identity: OidcIdentity,
  context: SignInContext,
): Promise<User> {
  const { now } = context;
  const { issuer } = provider;
  const known = await findOidcIdentity(tx, { issuer, subject: identity.subject });
  if (known) await touchOidcIdentity(tx, known.identity.id, { email: identity.email, now });
  const user = known?.user ?? (await addIdentity(tx, provider, identity, context));
  if (user.disabled_at !== null) throw new AppError("unauthenticated", "Account is disabled.");
  return applyAdminGroup(tx, user, provider, identity.isAdmin, context);
}

/** Links an identity that is new to this server to an account, or creates one. */
async function addIdentity(
  tx: Queries,
  provider: OidcProvider,
  identity: OidcIdentity,
  context: SignInContext,
): Promise<User> {
  const email = identity.email === null ? null : parseEmailAddress(identity.email);
  if (identity.email === null || email === null) throw noAddress(provider);
  // Before the account is looked up: the response must not reveal whether a stranger's address has one.
  if (!identity.emailVerified) throw unconfirmedAddress(provider);
  const owner = await findUserByEmail(tx, email);
  // Converting to lower case turns some look-alikes into the address that they imitate. Accounts of older versions keep
  // their addresses.
  const isSame = isPlainAddress(identity.email) || identity.email === owner?.email;
  const mayHave = owner ? await canLink(tx, owner, provider) : await canCreate(tx, provider, identity, context);
  if (!isSame || !mayHave) throw noAccount(provider);
  const user = owner ? await claimAccount(tx, owner, context.now) : await createAccount(tx, email, identity, context);
  const { issuer } = provider;
  const { subject } = identity;
  const { now } = context;
  await insertOidcIdentity(tx, {
    user_id: user.id,
    issuer,
    subject,
    email: identity.email,
    created_at: now,
    last_sign_in_at: now,
  });
  if (owner) {
    const values = { provider: provider.name, is_linked: true };
    await context.mails.queue(tx, { to: user.email, userId: user.id, template: "identity_changed", values }, now);
  }
  const action = owner ? "user.identity_linked" : "user.signed_up";
  await recordAudit(tx, context.actor, { action, target: user.id, details: { provider: provider.name } }, now);
  return user;
}

const noAccount = ({ name }: OidcProvider): AppError =>
  new AppError(
    "forbidden",
    `Your sign-in at "${name}" is not linked to an account. Sign in with your password, or ask an administrator for an invitation.`,
  );

const noAddress = ({ name }: OidcProvider): AppError =>
  new AppError("forbidden", `"${name}" did not send an email address, which an account needs.`);

const unconfirmedAddress = ({ name }: OidcProvider): AppError =>
  new AppError("forbidden", `"${name}" has not confirmed your email address, which an account needs.`);

/**
 * Returns whether the owner of an address may sign in with an identity whose provider has confirmed it. The account
 * must have confirmed it too: otherwise it could belong to somebody else. An unused invited account belongs to no one
 * else. A second subject of the same provider with the same address is another person, who was given the address.
 */
async function canLink(tx: Queries, owner: User, { issuer }: OidcProvider): Promise<boolean> {
  const identities = await listOidcIdentities(tx, owner.id);
  if (identities.some((one) => one.issuer === issuer)) return false;
  return owner.email_verified_at !== null || (owner.password_hash === null && identities.length === 0);
}

/**
 * Returns the account after its address's owner has signed in. Revokes unused invitations, whose links would set a
 * password.
 */
async function claimAccount(tx: Queries, owner: User, now: number): Promise<User> {
  await takeTokensOf(tx, owner.id, "invitation", now);
  await setEmailVerified(tx, owner.id, now);
  return { ...owner, email_verified_at: owner.email_verified_at ?? now };
}

/**
 * Returns whether an identity may get an account: if sign-up is open to all, or to all of the provider's users; never
 * before the server is set up. Members of the provider's administrator group always may.
 */
async function canCreate(
  tx: Queries,
  provider: OidcProvider,
  { isAdmin }: OidcIdentity,
  { config }: SignInContext,
): Promise<boolean> {
  if (isAdmin === true) return true;
  return (provider.createAccounts || config.signup === "open") && (await hasAdministrator(tx));
}

async function createAccount(
  tx: Queries,
  email: string,
  identity: OidcIdentity,
  { config, now }: SignInContext,
): Promise<User> {
  const { firstName: first_name, lastName: last_name } = identity;
  const user = await insertAccount(tx, {
    email,
    passwordHash: null,
    isAdmin: false,
    emailVerifiedAt: now,
    credits: config.signupCredits,
    now,
  });
  return (await updateProfile(tx, user.id, { first_name, last_name })) ?? user;
}

/** `isAdmin` null: the provider does not say. The last administrator keeps the role. */
async function applyAdminGroup(
  tx: Queries,
  user: User,
  provider: OidcProvider,
  isAdmin: boolean | null,
  { actor, now }: SignInContext,
): Promise<User> {
  if (isAdmin === null || isAdmin === user.is_admin) return user;
  if (!isAdmin && (await countOtherAdmins(tx, user.id)) === 0) return user;
  const changed = await changeAccountState(tx, user.id, { is_admin: isAdmin }, now);
  const details = { role: isAdmin ? "admin" : "member", provider: provider.name };
  await recordAudit(tx, actor, { action: "user.role_changed", target: user.id, details }, now);
  return changed;
}

const findProvider = (providers: readonly OidcProvider[], issuer: string): OidcProvider | undefined =>
  providers.find((one) => one.issuer === issuer);

/** Returns the configured name of a provider; the host name if it is no longer configured. */
export const formatProviderName = ({ oidc }: Config, issuer: string): string =>
  findProvider(oidc, issuer)?.name ?? (URL.parse(issuer)?.host || issuer);

/**
 * Removes an identity, and ends all other sessions of the user, which may have been started with it. Throws `AppError`
 * `not_found`; `conflict` if the user could no longer sign in.
 */
export async function removeIdentity(
  { config, mails, now, store }: IdentityNeeds,
  { user: { id: userId, email }, sessionId, client }: AccountOwner,
  identityId: string,
): Promise<void> {
  await store.write(async (tx) => {
    const time = now();
    const user = await findUserById(tx, userId);
    const identities = await listOidcIdentities(tx, userId);
    const removed = identities.find(({ id }) => id === identityId);
    if (!user || !removed) throw notFound("Identity");
    const canSignIn = identities.some((one) => one !== removed && findProvider(config.oidc, one.issuer));
    if (user.password_hash === null && !canSignIn)
      throw conflict("Account has no other way to sign in: set a password first.");
    await deleteOidcIdentity(tx, removed.id);
    await deleteSessionsOf(tx, userId, sessionId);
    const provider = formatProviderName(config, removed.issuer);
    const record = { action: "user.identity_removed", target: userId, details: { provider } } as const;
    await recordAudit(tx, toAuditActor(userId, sessionId, client), record, time);
    await mails.queue(
      tx,
      { to: email, userId, template: "identity_changed", values: { provider, is_linked: false } },
      time,
    );
  });
}
