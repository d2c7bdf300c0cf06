/** Sign-in with OpenID Connect: the product's view of a provider. */

/** A configured provider. If `groupsClaim` and `adminGroup` are set, members of the group are administrators. */
export type OidcProvider = {
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string | null;
  scopes: string[];
  groupsClaim: string | null;
  adminGroup: string | null;
  /** Whether a first sign-in creates an account, even while sign-up is closed. */
  createAccounts: boolean;
};

/** The secrets of one sign-in. The browser must return `state`; the others are known only to this server. */
export type OidcChecks = { state: string; nonce: string; codeVerifier: string };

/** The signed-in user. `subject` never changes for a person at a provider. `isAdmin` is null if unknown. */
export type OidcIdentity = {
  subject: string;
  email: string | null;
  emailVerified: boolean;
  firstName: string | null;
  lastName: string | null;
  isAdmin: boolean | null;
};

const MAX_PATH_CHARACTERS = 2048;

/**
 * Returns whether a text is a path on this server that no browser would take for another server, such as `//host`,
 * `/\host`, or either with tabs or line breaks, which browsers remove.
 */
export const isLocalPath = (text: string): boolean =>
  text.length <= MAX_PATH_CHARACTERS && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text);

/** Returns whether the claims make the user an administrator; null without a configured group. */
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
