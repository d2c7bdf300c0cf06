/**
 * Protection against requests from other sites. A browser adds the cookie to them, but also an `Origin` header with
 * their source, which scripts cannot change.
 */

/**
 * Returns whether a page of this origin belongs to this server. That is the origin of the configured URL; and, because a server on a LAN is
 * opened under several names, the host that the request itself was sent to. A site under another name cannot use this: the browser sends
 * the site's own name in both headers, and the cookie belongs to the name under which the user signed in. Nothing but this comparison
 * depends on `Host`.
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
  // A page that came unencrypted may have been altered on the way: it must not act on an encrypted connection. A proxy that is not
  // configured as trusted makes an encrypted page look like an unencrypted request.
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
