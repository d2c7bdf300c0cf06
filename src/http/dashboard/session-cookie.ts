/** The cookie `service_session`, which contains a session token. */
import { MAX_SESSION_AGE_MS } from "../../work/identity/session-keys";

const NAME = "service_session";

/** Formats the `Set-Cookie` header that signs in. The server, not the cookie, ends a session that is not used. */
export const formatSessionCookie = (token: string, isSecure: boolean): string =>
  formatCookie(token, MAX_SESSION_AGE_MS / 1000, isSecure);

/** Formats the `Set-Cookie` header that signs out. */
export const formatExpiredCookie = (isSecure: boolean): string => formatCookie("", 0, isSecure);

const formatCookie = (value: string, maxAgeSeconds: number, isSecure: boolean): string =>
  [
    `${NAME}=${value}`,
    "Path=/",
    `Max-Age=${maxAgeSeconds}`,
    "HttpOnly",
    "SameSite=Lax",
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");

/** Returns the token in a `Cookie` header. Null if there are several: another site of the domain may have added one. */
export function readSessionCookie(header: string | null): string | null {
  const values = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${NAME}=`))
    .map((pair) => pair.slice(NAME.length + 1));
  return values.length === 1 && values[0] !== "" ? values[0]! : null;
}
