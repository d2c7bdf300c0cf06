/** CORS for the origins in the configuration. */

const EXPOSED_HEADERS = [
  "Location",
  "Upload-Offset",
  "Upload-Length",
  "Upload-Defer-Length",
  "Upload-Expires",
  "Upload-Metadata",
  "Tus-Resumable",
  "Tus-Version",
  "Tus-Max-Size",
  "Tus-Extension",
  "X-Request-Id",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "WWW-Authenticate",
  "Content-Disposition",
  "Accept-Ranges",
  "Content-Range",
  "ETag",
  "Last-Event-ID",
].join(", ");

const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "Last-Event-ID",
  "Offcut-Workspace",
  "Tus-Resumable",
  "Upload-Defer-Length",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Offset",
  "X-HTTP-Method-Override",
  "X-Request-Id",
  "X-Requested-With",
  "Range",
  "If-Range",
  "If-None-Match",
].join(", ");

export const isPreflight = (request: Request): boolean =>
  request.method === "OPTIONS" && request.headers.has("origin") && request.headers.has("access-control-request-method");

/** Returns the headers that let this request's origin read the response; none for an origin that is not allowed. */
export function createCorsHeaders(origins: string[], request: Request): Record<string, string> {
  const origin = request.headers.get("origin");
  if (!origin || !(origins.includes("*") || origins.includes(origin))) return {};
  return { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED_HEADERS, Vary: "Origin" };
}

export function respondToPreflight(origins: string[], request: Request): Response {
  const allowed = createCorsHeaders(origins, request);
  if (Object.keys(allowed).length === 0) return new Response(null, { status: 403 });
  return new Response(null, {
    status: 204,
    headers: {
      ...allowed,
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      "Access-Control-Max-Age": "7200",
    },
  });
}
