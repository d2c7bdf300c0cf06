/**
 * The cookie `service_session`, which contains a session token. Over TLS the same token is also in `__Host-service_session`, which no other site
 * of the domain can set.
 */
import { MAX_SESSION_AGE_MS } from "../../work/identity/session-keys";
import { formatCookie, HOST_PREFIX, readCookie } from "./cookies";

const NAME = "service_session";
const HOST_NAME = `${HOST_PREFIX}${NAME}`;

/** Formats the `Set-Cookie` headers that sign in. The server, not the cookie, ends a session that is not used. */
export const formatSessionCookies = (token: string, isSecure: boolean): string[] =>
  formatCookies(token, MAX_SESSION_AGE_MS / 1000, isSecure);

/** Formats the `Set-Cookie` headers that sign out. */
export const formatExpiredCookies = (isSecure: boolean): string[] => formatCookies("", 0, isSecure);

const formatCookies = (value: string, maxAgeSeconds: number, isSecure: boolean): string[] =>
  (isSecure ? [HOST_NAME, NAME] : [NAME]).map((name) =>
    formatCookie({ name, value, path: "/", maxAgeSeconds, isSecure }),
  );

/**
 * Returns the token in the cookies of a request, or null. From a browser on an encrypted connection, which sends
 * `Sec-Fetch-Site`, only the cookie with the prefix counts: another site of the domain may have planted the plain one.
 * Programs may send the plain one.
 */
export function readSessionCookie({ headers }: Request, isSecure: boolean): string | null {
  const cookies = headers.get("cookie");
  const own = readCookie(cookies, HOST_NAME);
  return own !== null || (isSecure && headers.has("sec-fetch-site")) ? own : readCookie(cookies, NAME);
}
