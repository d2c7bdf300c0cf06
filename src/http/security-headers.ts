/** Security headers of responses. */

/** For responses that are not pages: a browser that opens one runs, loads and frames nothing. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** For uploaded and derived files: as above, and each in an opaque origin. */
export const FILE_POLICY = `sandbox; ${NO_CONTENT_POLICY}`;

/** For pages: only scripts, styles, fonts and requests of this server, nothing inline. `data:` is for icons in CSS. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** For the page of a share link, which has no scripts: a player of this server's files, and a form for the password. */
export const SHARE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src data:",
  "media-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join("; ");

/** For the dashboard. `blob:` is for media that its player assembles, and for pictures that it draws. */
export const DASHBOARD_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HSTS = "max-age=86400";

/** Adds the headers that every response has. `isSecure`: the client's connection is encrypted. */
export function addSecurityHeaders(headers: Headers, isSecure: boolean): void {
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("Content-Security-Policy")) headers.set("Content-Security-Policy", NO_CONTENT_POLICY);
  if (!headers.has("Referrer-Policy")) headers.set("Referrer-Policy", "no-referrer");
  if (isSecure) headers.set("Strict-Transport-Security", HSTS);
}
