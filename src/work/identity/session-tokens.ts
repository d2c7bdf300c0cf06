/** Session tokens: JWTs signed with HMAC-SHA-256. A token only names a session; its row has the details. */
import { decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import { MAX_SESSION_AGE_MS, type SessionKeys } from "./session-keys";

/** The claims of a token. `expiresAt`: when it ends even if it is used, in milliseconds since 1970. */
export type SessionClaims = { userId: string; sessionId: string; issuedAt: number; expiresAt: number };

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

/** Signs a token with the current key. */
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
