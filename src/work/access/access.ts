/**
 * Authorization. The only place that compares credentials, scopes, roles and workspaces: a route declares its
 * requirements as data, and its handler acts in the workspace of the principal without comparing owners.
 */
import { type AccountRole, KEY_SCOPES, type KeyScope, type WorkspaceRole } from "../../domain/access";
import { AppError, notFound } from "../../domain/errors";
import type { Queries } from "../../store/db";
import type { ApiKey, User } from "../../store/users";
import { findRole } from "../../store/workspaces";

/**
 * Credential of a request. `ageMs`: time since the key was created or the user signed in. A session has all scopes.
 * `isForAccount`: also valid for the account's own resources.
 */
export type Credential = {
  kind: "api_key" | "session";
  id: string;
  ageMs: number;
  scopes: readonly KeyScope[];
  isForAccount: boolean;
};

/** Returns whether a key is valid for its account: with all scopes, for the personal workspace, not a device's. */
export const isAccountKey = (key: Pick<ApiKey, "is_device" | "scopes" | "user_id" | "workspace_id">): boolean =>
  key.workspace_id === key.user_id && !key.is_device && KEY_SCOPES.every((scope) => key.scopes.includes(scope));

/**
 * An authenticated user. `keyWorkspace`: the only workspace of an API key, `role` null if the user has left it; null
 * for a session.
 */
export type Caller = {
  user: User;
  credential: Credential;
  keyWorkspace: { id: string; role: WorkspaceRole | null } | null;
};

/** A user with a credential in the workspace that the request acts in. */
export type Principal = {
  user: User;
  credential: Credential;
  workspace: { id: string; role: WorkspaceRole };
};

export type Actor = { workspaceId: string; userId: string };

export const toActor = ({ user, workspace }: Principal): Actor => ({ workspaceId: workspace.id, userId: user.id });

export type RouteAccess = {
  authentication: "none" | "required";
  /**
   * `account`: a session or an account key. `fresh-session`: a session that was signed in at most
   * `MAX_FRESH_SESSION_MS` ago.
   */
  credential: "any" | "account" | "session" | "fresh-session";
  /** The route also works while the account is being deleted. */
  inGrace: boolean;
  /** `admin`: an administrator of the server. */
  role: AccountRole;
  /**
   * The target of the route. In a `workspace`, a viewer may not write; an `account` belongs to the user in every role.
   */
  target: "workspace" | "account";
  /** Viewers may call the route although it is neither GET nor HEAD, because it changes nothing in the workspace. */
  viewersToo: boolean;
  /** Only an owner of the workspace may call the route. */
  ownersOnly: boolean;
  /** `optional`: session cookies work without an `Origin` too, for clients other than browsers. */
  origin: "required" | "optional";
  rateLimited: boolean;
};

export const DEFAULT_ACCESS: RouteAccess = {
  authentication: "required",
  credential: "any",
  inGrace: false,
  role: "member",
  target: "workspace",
  viewersToo: false,
  ownersOnly: false,
  origin: "required",
  rateLimited: true,
};

/** Access to uploads, which programs transfer with the cookie of a session. */
export const UPLOAD_ACCESS: RouteAccess = { ...DEFAULT_ACCESS, origin: "optional" };

export const MAX_FRESH_SESSION_MS = 12 * 3600 * 1000;

/** Creates the error that makes the dashboard ask for a new sign-in. */
export const createSessionTooOldError = (): AppError =>
  new AppError("forbidden", "Session is too old for this change. Sign in again.", { reason: "session_too_old" });

type CallerRights = { user: Pick<User, "deleted_at" | "is_admin">; credential: Omit<Credential, "id"> };

/**
 * Throws `AppError` `forbidden` unless the caller meets the route's requirements, in any workspace. `isRead`: GET or
 * HEAD.
 */
export function requireCaller({ user, credential }: CallerRights, access: RouteAccess, isRead: boolean): void {
  if (user.deleted_at !== null && !access.inGrace) throw forbidden("Account is being deleted.");
  if (access.credential === "account" && !credential.isForAccount)
    throw forbidden(
      "This API key is good for its workspace only. Use a session, or a key of your own workspace with all scopes.",
    );
  const needsSession = access.credential === "session" || access.credential === "fresh-session";
  if (needsSession && credential.kind !== "session")
    throw forbidden("API keys are not accepted here. Sign in and send the session's token.");
  if (access.credential === "fresh-session" && credential.ageMs > MAX_FRESH_SESSION_MS)
    throw createSessionTooOldError();
  if (access.role === "admin" && !user.is_admin) throw forbidden("Only an administrator may do this.");
  const scope = isRead ? "read" : "write";
  if (!credential.scopes.includes(scope)) throw forbidden(`API key does not have the scope ${scope}.`);
}

/** Throws `AppError` `forbidden` if the role may not do this in its workspace. */
export function requireRole(
  role: WorkspaceRole,
  access: Pick<RouteAccess, "ownersOnly" | "target"> & { viewersToo?: boolean },
  isRead: boolean,
): void {
  if (role === "viewer" && access.target === "workspace" && !isRead && !access.viewersToo)
    throw forbidden("A viewer of a workspace may not change anything in it.");
  if (access.ownersOnly && role !== "owner") throw forbidden("Only an owner of the workspace may do this.");
}

/** Throws `AppError` `forbidden` unless the principal may remove this member: owners anyone, others only themselves. */
export function requireRemoval({ user, workspace }: Principal, userId: string): void {
  if (userId !== user.id) requireRole(workspace.role, { target: "workspace", ownersOnly: true }, false);
}

/** Throws `AppError` `forbidden` unless the user may write in the workspace, for started work and signed links. */
export async function requireWriter(
  db: Queries,
  user: Pick<User, "id" | "deleted_at" | "disabled_at">,
  workspaceId: string,
): Promise<void> {
  const role = await findRole(db, workspaceId, user.id);
  if (user.disabled_at !== null || user.deleted_at !== null || role === null)
    throw forbidden("Link was revoked with the account that created it.");
  requireRole(role, DEFAULT_ACCESS, false);
}

/** Returns the only workspace that the credential is valid in; null for a session, which is valid in all. */
export const findOnlyWorkspace = ({ credential, workspace }: Principal): string | null =>
  credential.kind === "api_key" ? workspace.id : null;

/**
 * Returns the principal in the workspace of the request: the one in its path, otherwise the key's; for a session
 * `requested`, by default the personal one. Throws `AppError` `not_found` if the user is not a member of it, or the key
 * is for another one; `forbidden` as `requireCaller` and `requireRole`.
 */
export async function enterWorkspace(
  db: Queries,
  caller: Caller,
  route: { access: RouteAccess; isRead: boolean; inPath: string | null; requested: string | null },
): Promise<Principal> {
  const { user, credential, keyWorkspace } = caller;
  const { access, isRead } = route;
  requireCaller(caller, access, isRead);
  // The account's own resources do not depend on the workspace.
  const requested = access.target === "account" ? null : route.requested;
  const named = (route.inPath ?? requested)?.toLowerCase();
  const id = named ?? keyWorkspace?.id ?? user.id;
  const role =
    keyWorkspace === null ? await findRole(db, id, user.id) : keyWorkspace.id === id ? keyWorkspace.role : null;
  if (role === null) throw notFound("Workspace");
  requireRole(role, access, isRead);
  return { user, credential, workspace: { id, role } };
}

const forbidden = (message: string): AppError => new AppError("forbidden", message);
