/**
 * The outcome of a call according to the contract, from the caller and the declaration of the route. Written without
 * the server's own decisions.
 */
import type { RouteAccess } from "../../../src/work/access/access";
import type { Entry } from "./entries";
import type { Caller } from "./principals";

export type Endpoint = {
  /** The prefix of its family. */
  prefix: string;
  method: string;
  /** With parameters as `:name`, without the prefix. */
  path: string;
  access: RouteAccess;
};

/** Returns the expected outcome, and whether the caller is permitted. */
export function getExpected(endpoint: Endpoint, entry: Entry, caller: Caller): { outcome: string; isAllowed: boolean } {
  const refusal = findRefusal(endpoint, entry, caller);
  return refusal === null
    ? { outcome: entry.allowedFor?.(caller) ?? entry.allowed, isAllowed: true }
    : { outcome: refusal, isAllowed: false };
}

function findRefusal({ prefix, method, path, access }: Endpoint, entry: Entry, caller: Caller): string | null {
  if (access.authentication === "none") return null;
  const isRead = method === "GET" || method === "HEAD";
  // "/v1 takes API keys only (a session token there is 401)"; "a disabled user's keys and sessions get 401"
  if (caller.isNobody || (prefix === "/v1" && caller.credential === "session")) return "401 unauthenticated";
  // "In the grace window […] everything else is 403; keys likewise"
  if (caller.state === "in grace" && !access.inGrace) return "403 forbidden";
  // "need a session not older than 12 h: an API key gets 403 forbidden"
  const needsSession = access.credential === "session" || access.credential === "fresh-session";
  if (needsSession && caller.credential === "key") return "403 forbidden";
  // Resources of an account are not accessible with keys of a shared workspace, of a device, or with one scope.
  if (access.credential === "account" && caller.credential === "key" && !caller.isAccountKey) return "403 forbidden";
  if (access.credential === "fresh-session" && caller.isOldSession) return "403 forbidden session_too_old";
  // "A member who calls admin/* gets 403"
  if (access.role === "admin" && !caller.isAdmin) return "403 forbidden";
  // "read allows GET and HEAD; anything else without write is 403"
  if (!caller.scopes.includes(isRead ? "read" : "write")) return "403 forbidden";
  return findWorkspaceRefusal({ path, access, isRead }, entry, caller);
}

function findWorkspaceRefusal(
  { path, access, isRead }: Pick<Endpoint, "path" | "access"> & { isRead: boolean },
  entry: Entry,
  caller: Caller,
): string | null {
  const isNamed = path.includes(":workspace_id") || (access.target === "workspace" && caller.namesWorkspace);
  if (isNamed) {
    // "To somebody who is not a member everything in it is 404. A viewer gets 403 on every write"
    if (caller.role === null) return "404 not_found";
    if (caller.role === "viewer" && access.target === "workspace" && !isRead && !access.viewersToo)
      return "403 forbidden";
    return access.ownersOnly && caller.role !== "owner" ? "403 forbidden" : null;
  }
  if (access.target === "account") return null;
  // In the caller's own workspace the resources of the path do not exist.
  const outcome = entry.elsewhere ?? (path.includes(":") ? "404 not_found" : null);
  return outcome;
}
