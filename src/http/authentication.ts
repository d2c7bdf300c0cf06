/** Who asks: the bearer token of a request. */
import { AppError } from "../domain/errors";
import { sha256 } from "../lib/ids";
import { type ApiKey, findKeyOwner, touchApiKey, type User } from "../store/users";
import type { Services } from "../work/services";

export type Authenticate = (request: Request) => Promise<User>;

const MIN_TOUCH_INTERVAL_MS = 60_000;
const MAX_CACHED_OWNERS = 10_000;

/**
 * Finds the owner of a request's API key. Errors: `unauthenticated` (also for a disabled account), `forbidden` in the account's grace window. Owners are remembered
 * until accounts or keys change: every call asks for one.
 */
export function createApiKeyAuthenticator(services: Services): Authenticate {
  const { store } = services;
  const owners = new Map<string, { key: ApiKey; user: User }>();
  let revision = store.accountsRevision();

  async function findOwner(hash: string) {
    if (revision !== store.accountsRevision() || owners.size > MAX_CACHED_OWNERS) {
      owners.clear();
      revision = store.accountsRevision();
    }
    const known = owners.get(hash);
    if (known) return known;
    const asked = revision;
    const found = await findKeyOwner(store.read, hash);
    // Not remembered when an account has changed meanwhile: it may be this one.
    if (found && asked === store.accountsRevision()) owners.set(hash, found);
    return found;
  }

  return async (request) => {
    const token = request.headers.get("authorization")?.match(/^Bearer +(\S+)$/i)?.[1];
    if (!token?.startsWith("sk_")) throw new AppError("unauthenticated", "Send an API key as a bearer token.");
    const found = await findOwner(sha256(token));
    const now = services.now();
    if (!found || (found.key.expires_at !== null && found.key.expires_at <= now)) {
      throw new AppError("unauthenticated", "The API key is not valid.");
    }
    if (found.user.disabled_at !== null) throw new AppError("unauthenticated", "The account is disabled.");
    if (found.user.deleted_at !== null) throw new AppError("forbidden", "The account is being deleted.");
    if ((found.key.last_used_at ?? 0) + MIN_TOUCH_INTERVAL_MS < now) {
      found.key.last_used_at = now;
      // Nobody waits for this; a lost note costs nothing.
      void store.write((tx) => touchApiKey(tx, found.key.id, now)).catch(() => {});
    }
    return found.user;
  };
}
