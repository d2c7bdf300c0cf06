/**
 * The closed sets of values that decide who may do what: roles on the server and in a workspace, and scopes of API
 * keys.
 */

/** A `viewer` reads, an `editor` reads and writes, an `owner` also manages the workspace and its members. */
export const WORKSPACE_ROLES = ["owner", "editor", "viewer"] as const;
export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number];

/** An `admin` also manages the server and all its accounts. */
export const ACCOUNT_ROLES = ["member", "admin"] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** Number of days for which a deleted account can be restored. */
export const GRACE_DAYS = 30;

/** A key without `write` may only send GET and HEAD, a key without `read` may send neither. */
export const KEY_SCOPES = ["read", "write"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const SECOND_FACTOR_METHODS = ["totp", "email", "recovery"] as const;
export type SecondFactorMethod = (typeof SECOND_FACTOR_METHODS)[number];
