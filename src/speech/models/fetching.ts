/** One request for a file: redirects are followed within the web only, and an answer that is final is told from one that may pass. */
import { AppError } from "../../domain/errors";

const MOST_REDIRECTS = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Statuses that another try may find changed. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The server has something else than what was asked for: another try would find the same. */
export const refusal = (url: string, what: string): AppError =>
  new AppError("upstream_error", `${shownUrl(url)} ${what}.`);

/** An address as it may be shown: without the password in it. */
export function shownUrl(text: string): string {
  const url = URL.parse(text);
  if (!url?.password) return text;
  url.password = "***";
  return url.href;
}

/**
 * The answer to a GET: 200, 206 or 416. Errors: `AppError` `upstream_error` for an answer that will not change; another error, perhaps
 * with `retryAfterMs`, for one that may.
 */
export async function fetchFrom(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  let target = new URL(url);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(target, { headers, signal, redirect: "manual", decompress: false });
    const { status } = response;
    if (status === 200 || status === 206 || status === 416) return response;
    await response.body?.cancel();
    if (REDIRECTS.has(status)) {
      target = redirectTarget(url, target, response.headers.get("location"));
      continue;
    }
    if (PASSING.has(status)) {
      const seconds = Number(response.headers.get("retry-after") ?? 0);
      throw Object.assign(new Error(`status ${status}`), {
        retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : 0,
      });
    }
    throw refusal(
      url,
      status === 404 || status === 410 ? `is not there (status ${status})` : `cannot be fetched (status ${status})`,
    );
  }
  throw refusal(url, "is redirected in circles");
}

/** Bun's fetch would read `file:` and `data:` addresses; and what began encrypted stays so. */
function redirectTarget(url: string, from: URL, location: string | null): URL {
  const target = location === null ? null : URL.parse(location, from);
  if (target?.protocol === "https:" || (target?.protocol === "http:" && from.protocol === "http:")) return target;
  throw refusal(url, `is redirected to ${location ?? "nowhere"}, which is not followed`);
}
