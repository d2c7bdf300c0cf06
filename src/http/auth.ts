/** Who asks: the bearer token of a request. */
import { AppError } from "../domain/errors";
import { sha256 } from "../lib/ids";
import { findKeyOwner, touchApiKey, type User } from "../store/users";
import type { Services } from "../work/services";

const TOUCH_EVERY_MS = 60_000;

/** The owner of the request's API key. Errors: `unauthenticated`, `forbidden` in the account's grace window. */
export async function authenticateKey(services: Services, request: Request): Promise<User> {
  const token = request.headers.get("authorization")?.match(/^Bearer +(\S+)$/i)?.[1];
  if (!token?.startsWith("sk_")) throw new AppError("unauthenticated", "Send an API key as a bearer token.");
  const found = await findKeyOwner(services.store.read, sha256(token));
  const now = services.now();
  if (!found || (found.key.expires_at !== null && found.key.expires_at <= now)) {
    throw new AppError("unauthenticated", "The API key is not valid.");
  }
  if (found.user.deleted_at !== null) throw new AppError("forbidden", "The account is being deleted.");
  if ((found.key.last_used_at ?? 0) + TOUCH_EVERY_MS < now) {
    // Nobody waits for this; a lost note costs nothing.
    void services.store.write((tx) => touchApiKey(tx, found.key.id, now)).catch(() => {});
  }
  return found.user;
}
