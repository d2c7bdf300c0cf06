/** Sessions, and their tokens: JWTs signed with HMAC-SHA-256. A token only names a session; its row has the details. */

import { decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import { sha256 } from "../../lib/hash";
import { newId } from "../../lib/ids";
import { createAccountsCache } from "../../store/accounts-cache";
import type { Store } from "../../store/db";
import { findSessionWithUser, type Session, touchSession } from "../../store/sessions";
import type { User } from "../../store/users";
import { MAX_SESSION_AGE_MS, type SessionKeys } from "./session-keys";

/** The client that signs in, for the list of sessions. */
type SessionClient = { userAgent: string | null; address: string | null };

/** A new session, which starts when `row` is inserted. Only this value contains the token. */
export type IssuedSession = { token: string; row: Session };

const DAY_MS = 24 * 3600 * 1000;
const MAX_IDLE_MS = 30 * DAY_MS;

const MIN_TOUCH_INTERVAL_MS = 60_000;
const MAX_CACHED_TOKENS = 10_000;
const MAX_USER_AGENT_CHARACTERS = 512;

/** Returns when a session used at `now` ends if it is not used again. */
const getExpiry = (authenticatedAt: number, now: number): number =>
  Math.min(now + MAX_IDLE_MS, authenticatedAt + MAX_SESSION_AGE_MS);

type CachedToken = { claims: SessionClaims; session: Session; user: User };

/** Creates the service. Caches verified tokens until accounts or sessions change: every call verifies one. */
export function createSessions(services: { store: Store; keys: SessionKeys; now(): number }) {
  const { store, keys, now } = services;
  const findVerified = createAccountsCache<CachedToken>(store, MAX_CACHED_TOKENS);

  const find = (token: string): Promise<CachedToken | null> =>
    findVerified(sha256(token), async () => {
      const claims = await verifySessionToken(keys, token, now());
      if (!claims) return null;
      const row = await findSessionWithUser(store.read, claims.sessionId);
      return row?.user.id === claims.userId ? { claims, ...row } : null;
    });

  function touch(session: Session): void {
    const time = now();
    if (session.last_seen_at + MIN_TOUCH_INTERVAL_MS >= time) return;
    session.last_seen_at = time;
    session.expires_at = getExpiry(session.authenticated_at, time);
    const { id, expires_at: expiresAt } = session;
    // Not awaited: losing the time of a use is harmless.
    void store.write((tx) => touchSession(tx, id, { now: time, expiresAt })).catch(() => {});
  }

  return {
    /** Signs the token of a new session, outside the transaction that inserts it. */
    issue: async (userId: string, client: SessionClient) => {
      const time = now();
      const row: Session = {
        id: newId(),
        user_id: userId,
        created_at: time,
        authenticated_at: time,
        last_seen_at: time,
        expires_at: getExpiry(time, time),
        user_agent: client.userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS) ?? null,
        address: client.address,
      };
      const expiresAt = time + MAX_SESSION_AGE_MS;
      const token = await signSessionToken(keys, { userId, sessionId: row.id, issuedAt: time, expiresAt });
      return { token, row };
    },
    /** Returns the session of a token with its user; null if it is invalid or has ended. Records the use if `isUse`. */
    verify: async (token: string, { isUse = true }: { isUse?: boolean } = {}) => {
      const found = await find(token);
      const time = now();
      if (!found || found.claims.expiresAt <= time || found.session.expires_at <= time) return null;
      if (isUse) touch(found.session);
      return found;
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;

/** The claims of a token. `expiresAt`: when it ends even if it is used, in milliseconds since 1970. */
type SessionClaims = { userId: string; sessionId: string; issuedAt: number; expiresAt: number };

const ALGORITHM = "HS256";
const TYPE = "JWT";
const ISSUER = "offcut";
/** Other tokens of this server must name another audience. */
const AUDIENCE = "offcut/session";

const MAX_TOKEN_CHARACTERS = 2048;
/** If the clock is set back, recent tokens must stay valid. */
const CLOCK_TOLERANCE_SECONDS = 60;

const toSeconds = (ms: number): number => Math.floor(ms / 1000);

const encodeSecret = (secret: string): Uint8Array => new TextEncoder().encode(secret);

export async function signSessionToken(keys: SessionKeys, claims: SessionClaims): Promise<string> {
  const { kid, secret } = await keys.current();
  return new SignJWT({ sid: claims.sessionId })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(claims.userId)
    .setIssuedAt(toSeconds(claims.issuedAt))
    .setExpirationTime(toSeconds(claims.expiresAt))
    .sign(encodeSecret(secret));
}

/**
 * Returns the claims of a token, or null if this server has not signed it or it has expired. Does not check whether the
 * session has ended.
 */
export async function verifySessionToken(keys: SessionKeys, token: string, now: number): Promise<SessionClaims | null> {
  if (token.length > MAX_TOKEN_CHARACTERS) return null;
  try {
    const { kid } = decodeProtectedHeader(token);
    const key = kid === undefined ? null : keys.find(kid);
    if (!key) return null;
    const { payload } = await jwtVerify(token, encodeSecret(key.secret), {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer: ISSUER,
      audience: AUDIENCE,
      currentDate: new Date(now),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      // Also refuses tokens from the future.
      maxTokenAge: MAX_SESSION_AGE_MS / 1000,
      requiredClaims: ["sub", "sid", "iat", "exp"],
    });
    const { sub, sid, iat, exp } = payload;
    if (typeof sub !== "string" || typeof sid !== "string" || iat === undefined || exp === undefined) return null;
    // The tolerance applies only to the time of issue.
    if (exp * 1000 <= now) return null;
    return { userId: sub, sessionId: sid, issuedAt: iat * 1000, expiresAt: exp * 1000 };
  } catch {
    // The library throws for every invalid token.
    return null;
  }
}
