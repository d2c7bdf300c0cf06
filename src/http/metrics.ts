/** `/metrics`: the metrics of the server for an administrator's key, and the counting of requests. */
import { PROMETHEUS_CONTENT_TYPE } from "../lib/prometheus";
import { DEFAULT_ACCESS, type RouteAccess, requireCaller } from "../work/access/access";
import type { Services } from "../work/services";
import { createApiKeyAuthenticator } from "./authentication";
import { type Reply, toResponse } from "./call";
import { publicErrorShape } from "./errors";
import { type RequestContext, toErrorResponse } from "./family";

export const METRICS_PATH = "/metrics";

/** Requires an administrator's account key. It has no rate limit, because a scrape is cheap and must not fail. */
const METRICS_ACCESS: RouteAccess = {
  ...DEFAULT_ACCESS,
  credential: "account",
  role: "admin",
  target: "account",
  rateLimited: false,
};

export async function createMetricsReply({ readMetrics }: Services): Promise<Reply> {
  return { status: 200, text: await readMetrics(), headers: { "Content-Type": PROMETHEUS_CONTENT_TYPE } };
}

/** Creates the handler of `GET /metrics`. Errors have the public shape. */
export function createMetricsHandler(services: Services) {
  const authenticate = createApiKeyAuthenticator(services);
  return async (request: Request, { client, log }: RequestContext): Promise<Response> => {
    try {
      requireCaller(await authenticate(request, client), METRICS_ACCESS, true);
      return toResponse(await createMetricsReply(services));
    } catch (error) {
      return toErrorResponse(error, request, publicErrorShape, log);
    }
  };
}

type CountedRequest = {
  prefix: string | undefined;
  pathname: string;
  method: string;
  status: number;
  /** As `performance.now()` returned it. */
  startedAt: number;
};

/** Methods with their own label. Clients may send any others. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Prefixes besides those of the families. */
const PREFIXES = ["/files", "/workers"];

/** Counts a request. `prefix`: that of its family. Pages, probes and unknown paths count together. */
export function countRequest(
  { counters }: Services,
  { prefix, pathname, method, status, startedAt }: CountedRequest,
): void {
  const family = prefix ?? PREFIXES.find((one) => pathname.startsWith(`${one}/`)) ?? "other";
  counters.requests.add({
    family,
    method: METHODS.includes(method) ? method : "other",
    status: `${Math.floor(status / 100)}xx`,
  });
  counters.requestSeconds.observe({ family }, (performance.now() - startedAt) / 1000);
}
