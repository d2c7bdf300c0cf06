/** Identities: accounts at sign-in providers that a user can sign in with. */

import type { Config } from "../../config";
import { AppError } from "../../domain/errors";
import type { OidcProvider } from "../../domain/oidc";
import { deleteOidcIdentity, listOidcIdentities } from "../../store/oidc-identities";
import { deleteSessionsOf } from "../../store/sessions";
import { findUserById } from "../../store/users";
import { recordAudit } from "../access/audit";
import type { IdentityNeeds } from "./needs";
import { type AccountOwner, toAuditActor } from "./sign-in";

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
    if (!user || !removed) throw new AppError("not_found", "Identity not found.");
    const canSignIn = identities.some((one) => one !== removed && findProvider(config.oidc, one.issuer));
    if (user.password_hash === null && !canSignIn)
      throw new AppError("conflict", "Account has no other way to sign in: set a password first.");
    await deleteOidcIdentity(tx, removed.id);
    await deleteSessionsOf(tx, userId, sessionId);
    const provider = formatProviderName(config, removed.issuer);
    const record = {
      action: "user.identity_removed",
      target: { kind: "user", id: userId },
      details: { provider },
    } as const;
    await recordAudit(tx, toAuditActor(userId, sessionId, client), record, time);
    await mails.queue(
      tx,
      { to: email, userId, template: "identity_changed", values: { provider, is_linked: false } },
      time,
    );
  });
}
