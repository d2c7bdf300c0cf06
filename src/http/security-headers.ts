/** Headers that tell a browser what it may do with an answer. */

/** Of what is no page: nothing in it is run, loaded or framed, even when it is opened in a browser. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Of uploaded files and what is made of them: as above, and with an origin of their own. */
export const FILE_POLICY = `sandbox; ${NO_CONTENT_POLICY}`;

/** Of pages: scripts, styles and calls of this server alone, nothing inline. `data:` for the icons of style sheets. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const HSTS = "max-age=86400";

/** Adds to an answer what every answer has. `isSecure`: it goes out over TLS. */
export function addSecurityHeaders(headers: Headers, isSecure: boolean): void {
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("Content-Security-Policy")) headers.set("Content-Security-Policy", NO_CONTENT_POLICY);
  if (!headers.has("Referrer-Policy")) headers.set("Referrer-Policy", "no-referrer");
  if (isSecure) headers.set("Strict-Transport-Security", HSTS);
}
