/** One request for a file: redirects are followed within the web only, and an answer that is final is told from one that may pass. */
import { AppError } from "../../domain/errors";

const MAX_REDIRECTS = 8;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
/** Statuses that another try may find changed. */
const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The server has something else than what was asked for: another try would find the same. */
export const createUpstreamError = (url: string, what: string): AppError =>
  new AppError("upstream_error", `${maskUrlPassword(url)} ${what}.`);

/** An address as it may be shown: without the password in it. */
export function maskUrlPassword(text: string): string {
  const url = URL.parse(text);
  if (!url?.password) return text;
  url.password = "***";
  return url.href;
}

/**
 * The answer to a GET: 200, 206 or 416. Errors: `AppError` `upstream_error` for an answer that will not change; another error, perhaps
 * with `retryAfterMs`, for one that may.
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
      status === 404 || status === 410 ? `is not there (status ${status})` : `cannot be fetched (status ${status})`,
    );
  }
  throw createUpstreamError(url, "is redirected in circles");
}

/** Bun's fetch would read `file:` and `data:` addresses; and what began encrypted stays so. */
function getRedirectTarget(url: string, from: URL, location: string | null): URL {
  const target = location === null ? null : URL.parse(location, from);
  if (target?.protocol === "https:" || (target?.protocol === "http:" && from.protocol === "http:")) return target;
  throw createUpstreamError(url, `is redirected to ${location ?? "nowhere"}, which is not followed`);
}
