/** Cookies: out of reach of scripts, and sent by other sites only when a user follows a link to this server. */
import { MAX_SESSION_AGE_MS } from "../../work/identity/session-keys";

/** Prefix of names that browsers accept over TLS only, with `Path=/` and from this host alone. */
export const HOST_PREFIX = "__Host-";

type Cookie = { name: string; value: string; path: string; maxAgeSeconds: number; isSecure: boolean };

export const formatCookie = ({ name, value, path, maxAgeSeconds, isSecure }: Cookie): string =>
  [
    `${name}=${value}`,
    `Path=${path}`,
    `Max-Age=${maxAgeSeconds}`,
    "HttpOnly",
    "SameSite=Lax",
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");

/** Returns the value of a cookie in a `Cookie` header. Null if there are several: another site may have added one. */
export function readCookie(header: string | null, name: string): string | null {
  const values = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 && values[0] !== "" ? values[0]! : null;
}

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
