/** Sends one request for a file. Follows redirects to http and https. Distinguishes permanent from transient errors. */
import { AppError } from "../../domain/errors";

const MAX_REDIRECTS = 8;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
/** Statuses after which a retry may succeed. */
const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Creates the error for a permanent problem, which a retry would not solve. */
export const createUpstreamError = (url: string, what: string): AppError =>
  new AppError("upstream_error", `${maskUrlPassword(url)} ${what}.`);

export function maskUrlPassword(text: string): string {
  const url = URL.parse(text);
  if (!url?.password) return text;
  url.password = "***";
  return url.href;
}

/**
 * Returns the response to a GET request: 200, 206 or 416. Throws `AppError` `upstream_error` for a permanent error, and
 * another error, possibly with `retryAfterMs`, for a transient one.
 */
export async function fetchModelFile(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  let target = new URL(url);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(target, { headers, signal, redirect: "manual", decompress: false });
    const { status } = response;
    if (status === 200 || status === 206 || status === 416) return response;
    await response.body?.cancel();
    if (REDIRECT_STATUSES.has(status)) {
      target = getRedirectTarget(url, target, response.headers.get("location"));
      continue;
    }
    if (TRANSIENT_STATUSES.has(status)) {
      const seconds = Number(response.headers.get("retry-after") ?? 0);
      throw Object.assign(new Error(`status ${status}`), {
        retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : 0,
      });
    }
    throw createUpstreamError(
      url,
      status === 404 || status === 410
        ? `does not exist (status ${status})`
        : `cannot be downloaded (status ${status})`,
    );
  }
  throw createUpstreamError(url, "redirects too often");
}

/**
 * Resolves a redirect. Only http and https are allowed, because Bun's fetch would also read `file:` and `data:` URLs,
 * and a redirect must not leave https.
 */
function getRedirectTarget(url: string, from: URL, location: string | null): URL {
  const target = location === null ? null : URL.parse(location, from);
  if (target?.protocol === "https:" || (target?.protocol === "http:" && from.protocol === "http:")) return target;
  throw createUpstreamError(url, `redirects to ${location ?? "no location"}, which is not allowed`);
}
