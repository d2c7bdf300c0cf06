/** Cookies: out of reach of scripts, and sent by other sites only when a user follows a link to this server. */

/** Prefix of names that browsers accept over TLS only, with `Path=/` and from this host alone. */
export const HOST_PREFIX = "__Host-";

type Cookie = { name: string; value: string; path: string; maxAgeSeconds: number; isSecure: boolean };

/** Formats a `Set-Cookie` header. */
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
