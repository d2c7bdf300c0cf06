/** The cookie `service_session`, which contains a session token. */
import { MAX_SESSION_AGE_MS } from "../../work/identity/session-keys";
import { formatCookie, readCookie } from "./cookies";

const NAME = "service_session";

/** Formats the `Set-Cookie` header that signs in. The server, not the cookie, ends a session that is not used. */
export const formatSessionCookie = (token: string, isSecure: boolean): string =>
  formatCookie({ name: NAME, value: token, path: "/", maxAgeSeconds: MAX_SESSION_AGE_MS / 1000, isSecure });

/** Formats the `Set-Cookie` header that signs out. */
export const formatExpiredCookie = (isSecure: boolean): string =>
  formatCookie({ name: NAME, value: "", path: "/", maxAgeSeconds: 0, isSecure });

/** Returns the token in a `Cookie` header, or null. */
export const readSessionCookie = (header: string | null): string | null => readCookie(header, NAME);
