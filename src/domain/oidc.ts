/** Sign-in with OpenID Connect: what the product needs of a provider. */

/** A provider as configured. `groupsClaim` and `adminGroup`: members of the group are administrators. */
export type OidcProvider = {
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string | null;
  scopes: string[];
  groupsClaim: string | null;
  adminGroup: string | null;
  /** Whoever signs in for the first time gets an account, even while sign-up is closed. */
  createAccounts: boolean;
};

/** The secrets of one sign-in, which the browser must bring back (`state`) or which only this server knows. */
export type OidcChecks = { state: string; nonce: string; codeVerifier: string };

/** Who signed in. `subject` never changes for a person at a provider; `isAdmin` is null when the provider does not tell. */
export type OidcIdentity = {
  subject: string;
  email: string | null;
  emailVerified: boolean;
  firstName: string | null;
  lastName: string | null;
  isAdmin: boolean | null;
};

/** Returns whether the claims make somebody an administrator; null without a configured group. */
export function findAdminGroup(
  { groupsClaim, adminGroup }: Pick<OidcProvider, "groupsClaim" | "adminGroup">,
  claims: Readonly<Record<string, unknown>>,
): boolean | null {
  if (groupsClaim === null || adminGroup === null) return null;
  const value = Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : null;
  // Some providers send a single group as a string.
  const groups = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  return groups.includes(adminGroup);
}
