/** Authentication: finds the user of a request. `work/access/access.ts` decides what the user may do. */
import { AppError } from "../domain/errors";
import { sha256 } from "../lib/hash";
import { createAccountsCache } from "../store/accounts-cache";
import { findKeyOwner, type KeyOwner, touchApiKey } from "../store/users";
import { type Caller, isAccountKey, type RouteAccess } from "../work/access/access";
import type { Services } from "../work/services";
import type { RequestClient } from "./client";

/**
 * `isUse` false: the server only checks whether an open request is still allowed, which does not count as a use of its
 * credential. `origin` is the origin in the route's access.
 */
export type AuthenticationOptions = { isUse?: boolean } & Partial<Pick<RouteAccess, "origin">>;

/** Returns the user of a request. Throws `AppError` `unauthenticated` or `forbidden`. */
export type Authenticate = (
  request: Request,
  client: RequestClient,
  options?: AuthenticationOptions,
) => Promise<Caller>;

/** Returns the token in the header `Authorization: Bearer`, or null. */
export const readBearerToken = ({ headers }: Request): string | null =>
  headers.get("authorization")?.match(/^Bearer +(\S+)$/i)?.[1] ?? null;

const MIN_TOUCH_INTERVAL_MS = 60_000;
const MAX_CACHED_OWNERS = 10_000;

/**
 * Creates the authentication by API key. A disabled account is `unauthenticated`. Owners are cached until accounts,
 * keys or memberships change, because every call looks one up.
 */
export function createApiKeyAuthenticator(services: Services): Authenticate {
  const { store } = services;
  const findOwner = createAccountsCache<KeyOwner>(store, MAX_CACHED_OWNERS);

  return async (request, _, { isUse = true } = {}) => {
    const token = readBearerToken(request);
    if (!token?.startsWith("sk_"))
      throw new AppError("unauthenticated", "Send an API key in the header Authorization: Bearer sk_….");
    const hash = sha256(token);
    const found = await findOwner(hash, () => findKeyOwner(store.read, hash));
    const now = services.now();
    if (!found || (found.key.expires_at !== null && found.key.expires_at <= now)) {
      throw new AppError("unauthenticated", "API key is invalid or has expired.");
    }
    if (found.user.disabled_at !== null) throw new AppError("unauthenticated", "Account is disabled.");
    if (isUse && (found.key.last_used_at ?? 0) + MIN_TOUCH_INTERVAL_MS < now) {
      found.key.last_used_at = now;
      // Not awaited: losing the time of a use is harmless.
      void store.write((tx) => touchApiKey(tx, found.key.id, now)).catch(() => {});
    }
    const { key, user, role } = found;
    return {
      user,
      credential: {
        kind: "api_key",
        id: key.id,
        ageMs: now - key.created_at,
        scopes: key.scopes,
        isForAccount: isAccountKey(key),
      },
      keyWorkspace: { id: key.workspace_id, role },
    };
  };
}
