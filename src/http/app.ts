/** The HTTP server's one entrance: mounts the families, and gives every answer its request id. */
import { Elysia } from "elysia";
import type { LinkTarget } from "../blobs/signed-links";
import { AppError } from "../domain/errors";
import type { Log } from "../lib/log";
import type { Services } from "../work/services";
import { createApiKeyAuthenticator } from "./authentication";
import { toResponse } from "./call";
import { findClientAddress, isSecureConnection } from "./client-address";
import { ACTIVE_IDLE_SECONDS, type Connection, NO_CONNECTION } from "./connection";
import { createCorsHeaders, isPreflight, respondToPreflight } from "./cors";
import { createDocsPlugin } from "./docs";
import { publicErrorShape, toErrorReply } from "./errors";
import { serveFile } from "./files";
import { checkReadiness } from "./health";
import { createPagesPlugin } from "./pages";
import { mustCloseConnection } from "./parse-request";
import { publicRoutes } from "./public";
import { createRateLimiter } from "./rate-limit";
import type { Route } from "./route";
import { addSecurityHeaders } from "./security-headers";
import { createTusErrorHeaders, createUploadSurface, parseUploadMethod } from "./uploads";

type RequestContext = { requestId: string; log: Log; connection: Connection };

export type Handler = (request: Request, connection?: Connection) => Promise<Response>;

/** The server's request handler. */
export function createHandler(services: Services): Handler {
  const entered = new WeakMap<Request, RequestContext>();
  const limiter = createRateLimiter(services.config.rateLimit);
  const authenticate = createApiKeyAuthenticator(services);
  const uploads = createUploadSurface(services);
  const of = (request: Request): RequestContext =>
    entered.get(request) ?? { requestId: "", log: services.log, connection: NO_CONNECTION };

  async function runPublic(route: Route, request: Request, params: Record<string, string>): Promise<Response> {
    const { requestId, log } = of(request);
    const user = await authenticate(request);
    const rate = limiter.take(user.id, services.now());
    if (!rate.allowed) {
      const refused = toErrorResponse(
        new AppError("rate_limited", "Too many requests.", { retryAfterSeconds: rate.retryAfterSeconds }),
        log,
      );
      return withHeaders(refused, rate.headers);
    }
    try {
      const reply = await route.run({ services, request, requestId, log, user }, params);
      return toResponse({ ...reply, headers: { ...rate.headers, ...reply.headers } });
    } catch (error) {
      return withHeaders(toErrorResponse(error, log), rate.headers);
    }
  }

  // First: a hook counts only for the routes that are added after it.
  const app = new Elysia({ normalize: false })
    .onError(({ error, code, request }) => {
      const shown = code === "NOT_FOUND" ? new AppError("not_found", "Path not found.") : error;
      return toErrorResponse(shown, of(request).log);
    })
    .use(createDocsPlugin(publicRoutes))
    .use(createPagesPlugin());
  for (const route of publicRoutes) {
    app.route(route.method, `/v1${route.path}`, ({ request, params }) => runPublic(route, request, params ?? {}), {
      parse: "none",
    });
  }
  async function runUpload(request: Request, uploadId: string): Promise<Response> {
    try {
      // First: what names no method of the protocol is a path that does not exist, for anybody.
      const method = parseUploadMethod(request);
      const authorize = () => authenticate(request);
      const caller = { user: await authorize(), connection: of(request).connection, authorize };
      return await uploads.handle(request, method, caller, uploadId);
    } catch (error) {
      const refused = toErrorResponse(error, of(request).log);
      return withHeaders(refused, createTusErrorHeaders(refused.status));
    }
  }

  for (const method of ["HEAD", "PATCH", "DELETE", "POST"]) {
    app.route(method, "/v1/uploads/:upload_id", ({ request, params }) => runUpload(request, params.upload_id), {
      parse: "none",
    });
  }
  app.route("OPTIONS", "/v1/uploads/:upload_id", () => uploads.options());
  for (const method of ["GET", "HEAD"]) {
    app.route(method, "/files/:kind/:id/:what", ({ request, params }) =>
      serveFile(services, request, params as LinkTarget),
    );
  }
  app.get("/healthz", () => new Response("ok\n"));
  app.get("/readyz", async () => {
    const state = await checkReadiness(services);
    return toResponse({ status: state.ready ? 200 : 503, body: state });
  });

  const { config } = services;
  return async (received, connection = NO_CONNECTION) => {
    const request = withRoutableUrl(received);
    const requestId = crypto.randomUUID();
    const log = services.log.with({ request: requestId });
    entered.set(request, { requestId, log, connection });
    connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
    const { pathname } = new URL(request.url);
    const answer = isPreflight(request) ? respondToPreflight(config.corsOrigins, request) : await app.fetch(request);
    // A download may stall for longer than a client may take to send its next request.
    if (!pathname.startsWith("/files/")) connection.setIdleTimeout(config.requestTimeoutSeconds);
    if (pathname.startsWith("/v1/") && request.method !== "GET") {
      const forwarded = request.headers.get("x-forwarded-for");
      const client = findClientAddress(connection.address, forwarded, config.trustedProxies);
      log.info("request", { method: request.method, path: pathname, status: answer.status, client });
    }
    const forwardedProto = request.headers.get("x-forwarded-proto");
    const secure = isSecureConnection(
      config.tlsCert !== null,
      connection.address,
      forwardedProto,
      config.trustedProxies,
    );
    addSecurityHeaders(answer.headers, secure);
    if (answer.status >= 400 && mustCloseConnection(request)) answer.headers.set("Connection", "close");
    return withHeaders(answer, { ...createCorsHeaders(config.corsOrigins, request), "X-Request-Id": requestId });
  };
}

/** Elysia looks for the path from this place of the address on: it loses the first part of it behind a host as short as `nas`. */
const MIN_ELYSIA_PATH_INDEX = 11;

/**
 * The request with an address that can be routed. Without a `Host` header (HTTP/1.0, some probes), or with one that is none, it is a bare
 * path. Nothing else depends on the host that a client names.
 */
function withRoutableUrl(request: Request): Request {
  const { url } = request;
  const pathFrom = URL.canParse(url) ? url.indexOf("/", "https://".length) : 0;
  return pathFrom >= MIN_ELYSIA_PATH_INDEX ? request : new Request(`http://offcut${url.slice(pathFrom)}`, request);
}

function toErrorResponse(error: unknown, log: Log): Response {
  const { status, body, headers } = toErrorReply(error, publicErrorShape, (unknown) =>
    log.error("request failed", { error: unknown }),
  );
  return toResponse({ status, body, headers });
}

function withHeaders(answer: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
  return answer;
}
