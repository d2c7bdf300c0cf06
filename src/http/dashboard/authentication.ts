/** The dashboard family's authentication: a session token or API key in the header, or a session cookie. */
import { KEY_SCOPES } from "../../domain/access";
import { AppError } from "../../domain/errors";
import type { Caller } from "../../work/access/access";
import type { Services } from "../../work/services";
import {
  type Authenticate,
  type AuthenticationOptions,
  createApiKeyAuthenticator,
  readBearerToken,
} from "../authentication";
import { isReadMethod } from "../call";
import type { RequestClient } from "../client";
import { readSessionCookie } from "./cookies";

/** Creates the authentication. With an `Authorization` header, even an invalid one, the cookie is ignored. */
export function createDashboardAuthenticator(services: Services): Authenticate {
  const authenticateKey = createApiKeyAuthenticator(services);

  async function authenticateSession(token: string, options?: AuthenticationOptions): Promise<Caller> {
    const found = await services.sessions.verify(token, options);
    if (!found) throw new AppError("unauthenticated", "Session is invalid or has ended. Sign in.");
    const { session, user } = found;
    if (user.disabled_at !== null) throw new AppError("unauthenticated", "Account is disabled.");
    const ageMs = services.now() - session.authenticated_at;
    const credential = { kind: "session", id: session.id, ageMs, scopes: KEY_SCOPES, isForAccount: true } as const;
    return { user, credential, keyWorkspace: null };
  }

  return async (request, client, options) => {
    const { headers } = request;
    if (headers.has("authorization")) {
      const token = readBearerToken(request);
      if (token === null)
        throw new AppError("unauthenticated", "Send a session token or an API key as a bearer token.");
      return token.startsWith("sk_") ? authenticateKey(request, client, options) : authenticateSession(token, options);
    }
    const cookie = readSessionCookie(request, client.isSecure);
    if (cookie === null) throw new AppError("unauthenticated", "Sign in, or send a session token or an API key.");
    const caller = await authenticateSession(cookie, options);
    const isAllowed =
      isReadMethod(request.method) ||
      isFromThisServer(services, request, client) ||
      (options?.origin === "optional" && isFromNoSite(headers));
    if (!isAllowed) throw foreignOrigin();
    return caller;
  };
}

/**
 * Creates the check of calls without authentication, such as sign-in: a page of another site must not sign a browser in
 * to somebody else's account. Programs send no `Origin`; pages of the configured CORS origins may sign in, and get no
 * cookie. Throws `AppError` `forbidden`.
 */
export function createOriginCheck(services: Services) {
  const { corsOrigins } = services.config;
  return (request: Request, client: RequestClient): void => {
    const origin = request.headers.get("origin");
    if (origin === null || corsOrigins.includes("*") || corsOrigins.includes(origin)) return;
    if (!isFromThisServer(services, request, client))
      throw new AppError("forbidden", "Origin header must name this server or a configured CORS origin.");
  };
}

const isFromThisServer = ({ publicUrl }: Services, { headers }: Request, { isSecure }: RequestClient): boolean =>
  isSameOrigin(headers.get("origin"), { host: headers.get("host"), isSecure, publicUrl: publicUrl() });

const foreignOrigin = (): AppError =>
  new AppError("forbidden", "Request with a cookie must have an Origin header that names this server.");

/**
 * Returns whether a page of this origin belongs to this server. That is the origin of the configured URL; and, because
 * a server on a LAN is opened under several names, the host that the request itself was sent to. A site under another
 * name cannot use this: the browser sends the site's own name in both headers, and the cookie belongs to the name under
 * which the user signed in. Only this comparison depends on `Host`.
 */
export function isSameOrigin(
  origin: string | null,
  request: { host: string | null; isSecure: boolean; publicUrl: string },
): boolean {
  if (origin === null) return false;
  const page = parseOrigin(origin);
  if (page === null) return false;
  if (page.origin === parseOrigin(request.publicUrl)?.origin) return true;
  if (request.host === null) return false;
  // A page that came unencrypted may have been altered on the way: it must not act on an encrypted connection. A proxy
  // that is not configured as trusted makes an encrypted page look like an unencrypted request.
  if (request.isSecure && page.protocol !== "https:") return false;
  return page.host === parseOrigin(`${page.protocol}//${request.host}`)?.host;
}

/**
 * Returns whether the request does not come from a site: it has no `Origin`, and no `Sec-Fetch-Site` that names another
 * site. Browsers add at least one of them to requests caused by a page of another site.
 */
export function isFromNoSite(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  return !headers.has("origin") && (site === null || site === "same-origin" || site === "none");
}

/** Returns null for `null`, which sandboxed pages send, and for anything that is not an http or https URL. */
function parseOrigin(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === "http:" || url.protocol === "https:" ? url : null;
}
