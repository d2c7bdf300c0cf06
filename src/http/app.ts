/** The HTTP server: mounts route families, files, pages and health checks, and adds common response headers. */
import { Elysia } from "elysia";
import type { LinkTarget } from "../blobs/signed-links";
import { AppError, notFound } from "../domain/errors";
import { checkReadiness } from "../work/health/readiness";
import type { Services } from "../work/services";
import { createApiKeyAuthenticator } from "./authentication";
import { restoreLength, toResponse, withHeaders } from "./call";
import {
  ACTIVE_IDLE_SECONDS,
  ARCHIVE_IDLE_SECONDS,
  type Connection,
  findClient,
  NO_CONNECTION,
  UNKNOWN_CLIENT,
} from "./client";
import { createCorsHeaders, isPreflight, respondToPreflight } from "./cors";
import { DASHBOARD_PREFIX, dashboardRoutes } from "./dashboard";
import { createDashboardAuthenticator, createOriginCheck } from "./dashboard/authentication";
import { dashboardErrorShape } from "./dashboard/errors";
import { createDocsPlugin } from "./docs";
import { publicErrorShape } from "./errors";
import { EVENT_STREAM_TYPE } from "./event-stream";
import { createFailurePage, isAskedByPerson } from "./failure-page";
import { type Family, family, logRefusal, type RequestContext, toErrorResponse } from "./family";
import { serveFile } from "./files";
import { GUIDES } from "./guide";
import { KEYS_PREFIX, keyRoutes } from "./keys";
import { countRequest, createMetricsHandler, METRICS_PATH } from "./metrics";
import { createOAuthMetadata, OAUTH_METADATA_PATH, OAUTH_PREFIX, oauthRoutes } from "./oauth";
import { oauthErrorShape } from "./oauth/errors";
import { mustCloseConnection } from "./parse-request";
import { PUBLIC_PREFIX, publicRoutes } from "./public";
import { createRateLimiter } from "./rate-limit";
import { addSecurityHeaders } from "./security-headers";
import { serveSharePage } from "./share-page";
import { createStandalonePagesPlugin } from "./standalone-pages";
import { createUploadSurface } from "./uploads";
import { createSignedPut } from "./uploads/signed-put";
import { createWebAppPlugin } from "./web-app";
import { createWorkerRoutes } from "./workers";

export type Handler = (request: Request, connection?: Connection) => Promise<Response>;

const API_KEY_SCHEME = { type: "http", scheme: "bearer", bearerFormat: "sk_…" };

const SESSION_SCHEME = { type: "http", scheme: "bearer", bearerFormat: "JWT" };
const COOKIE_SCHEME = { type: "apiKey", in: "cookie", name: "service_session" };

/** The page for links to files, and addresses, that do not work. */
const START = { href: "/", label: "Open the dashboard" };
const BROKEN_LINK = { title: "File not available", link: START };
/** People who open one may have no account. */
const BROKEN_SHARE = {
  title: "File not available",
  missing:
    "The link has expired, was revoked or needs a password. Open the page that you were sent, or ask for a new link.",
};
const UNKNOWN_PAGE = {
  title: "Page not found",
  missing: "Check the address, or start from the dashboard.",
  link: START,
};

const findFailurePage = (pathname: string) =>
  pathname.startsWith("/files/shares/") ? BROKEN_SHARE : pathname.startsWith("/files/") ? BROKEN_LINK : UNKNOWN_PAGE;

export function createFamilies(services: Services): Family[] {
  const authenticateUser = createDashboardAuthenticator(services);
  const sessionSchemes = { session: SESSION_SCHEME, cookie: COOKIE_SCHEME };
  // Shared, because the limit is the user's.
  const rateLimit = createRateLimiter(services.config.rateLimit);
  return [
    family({
      prefix: PUBLIC_PREFIX,
      authenticate: createApiKeyAuthenticator(services),
      errorShape: publicErrorShape,
      rateLimit,
      routes: publicRoutes,
      hasUploads: true,
      document: { path: "/openapi.json", guide: GUIDES.public, securitySchemes: { apiKey: API_KEY_SCHEME } },
    }),
    family({
      prefix: DASHBOARD_PREFIX,
      authenticate: authenticateUser,
      checkOpenCall: createOriginCheck(services),
      errorShape: dashboardErrorShape,
      rateLimit,
      routes: dashboardRoutes,
      hasUploads: true,
      hasSignedUploads: true,
      hasWorkspaces: true,
      document: {
        path: `${DASHBOARD_PREFIX}/openapi.json`,
        guide: GUIDES.dashboard,
        securitySchemes: { ...sessionSchemes, apiKey: API_KEY_SCHEME },
      },
    }),
    family({
      prefix: KEYS_PREFIX,
      authenticate: authenticateUser,
      errorShape: publicErrorShape,
      rateLimit,
      routes: keyRoutes,
      document: { path: `${KEYS_PREFIX}/openapi.json`, guide: GUIDES.keys, securitySchemes: sessionSchemes },
    }),
    family({
      prefix: OAUTH_PREFIX,
      authenticate: authenticateUser,
      errorShape: oauthErrorShape,
      rateLimit,
      routes: oauthRoutes,
      hasWorkspaces: true,
      document: { path: `${OAUTH_PREFIX}/openapi.json`, guide: GUIDES.oauth, securitySchemes: sessionSchemes },
    }),
  ];
}

export async function createHandler(services: Services): Promise<Handler> {
  const { config } = services;
  const contexts = new WeakMap<Request, RequestContext>();
  const contextOf = (request: Request): RequestContext =>
    contexts.get(request) ?? { requestId: "", log: services.log, connection: NO_CONNECTION, client: UNKNOWN_CLIENT };
  const families = createFamilies(services);
  const findFamily = (pathname: string) => families.find((one) => one.contains(pathname));

  const uploads = createUploadSurface(services);
  const signedPut = createSignedPut(services);
  const mounted = families.map((one) => ({
    family: one,
    routes: one.mount({ services, uploads, signedPut, contextOf }),
  }));

  // The error hook comes first: a hook applies only to the routes that are added after it.
  const app = new Elysia({ normalize: false, strictPath: true })
    .onError(({ error, code, request }) => {
      const { pathname } = new URL(request.url);
      const { errorShape } = findFamily(pathname) ?? {};
      const shown = code === "NOT_FOUND" ? notFound("Path") : error;
      const { log } = contextOf(request);
      if (errorShape === undefined && shown instanceof AppError && isAskedByPerson(request)) {
        logRefusal(shown, log);
        return toResponse(createFailurePage(shown, findFailurePage(pathname)));
      }
      return toErrorResponse(shown, request, errorShape ?? publicErrorShape, log);
    })
    .use(createDocsPlugin(mounted))
    .use(createWebAppPlugin(services))
    .use(createStandalonePagesPlugin());
  const workerRoutes = services.cluster ? createWorkerRoutes(services, services.cluster, contextOf) : [];
  for (const { method, path, handle } of [...mounted.flatMap(({ routes }) => routes), ...workerRoutes])
    app.route(method, path, ({ request, params }) => handle(request, params ?? {}), { parse: "none" });
  for (const method of ["GET", "HEAD"]) {
    app.route(method, "/files/:kind/:id/:what", ({ request, params }) =>
      serveFile(services, request, params as LinkTarget),
    );
  }
  for (const method of ["GET", "HEAD", "POST"]) {
    const path = "/files/shares/:id/page";
    const serve = (request: Request, id: string) => serveSharePage(services, request, id, contextOf(request));
    app.route(method, path, ({ request, params: { id } }) => serve(request, id), { parse: "none" });
  }
  app.get(OAUTH_METADATA_PATH, () => toResponse({ status: 200, body: createOAuthMetadata(services) }));
  const serveMetrics = createMetricsHandler(services);
  for (const method of ["GET", "HEAD"])
    app.route(method, METRICS_PATH, ({ request }) => serveMetrics(request, contextOf(request)));
  app.get("/healthz", () => new Response("ok\n"));
  app.get("/readyz", async () => {
    const state = await checkReadiness(services);
    return toResponse({ status: state.ready ? 200 : 503, body: state });
  });

  return async (received, connection = NO_CONNECTION) => {
    const startedAt = performance.now();
    const request = withRoutableUrl(received);
    const requestId = crypto.randomUUID();
    const log = services.log.with({ request: requestId });
    const client = findClient(config, request, connection);
    contexts.set(request, { requestId, log, connection, client });
    connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
    const { pathname } = new URL(request.url);
    const response = isPreflight(request) ? respondToPreflight(config.corsOrigins, request) : await app.fetch(request);
    restoreLength(request, response);
    // A download may stall, and an event stream be quiet, for longer than the time between two requests.
    const type = response.headers.get("content-type");
    const isStream = type === EVENT_STREAM_TYPE;
    const isDownload =
      pathname.startsWith("/files/") || type === "video/mp4" || response.headers.has("content-disposition");
    if (type === "application/zip") connection.setIdleTimeout(ARCHIVE_IDLE_SECONDS);
    else if (!isStream && !isDownload) connection.setIdleTimeout(config.requestTimeoutSeconds);
    const family = findFamily(pathname);
    const { method } = request;
    const { status } = response;
    countRequest(services, { prefix: family?.prefix, pathname, method, status, startedAt });
    log[family && method !== "GET" ? "info" : "debug"]("request.completed", {
      method,
      path: pathname,
      status,
      client: client.address,
    });
    addSecurityHeaders(response.headers, client.isSecure);
    if (response.status >= 400 && mustCloseConnection(request)) response.headers.set("Connection", "close");
    return withHeaders(response, { ...createCorsHeaders(config.corsOrigins, request), "X-Request-Id": requestId });
  };
}

/** Elysia searches for the path from this index of the URL. With a host as short as `nas`, it starts earlier. */
const MIN_ELYSIA_PATH_INDEX = 11;

/**
 * Returns the request with a URL that can be routed. Without a `Host` header (HTTP/1.0, some probes) or with an invalid
 * one, Bun passes a bare path. Apart from this, only `dashboard/authentication.ts` reads the host that a client sends.
 */
function withRoutableUrl(request: Request): Request {
  const { url } = request;
  const pathIndex = URL.canParse(url) ? url.indexOf("/", "https://".length) : 0;
  return pathIndex >= MIN_ELYSIA_PATH_INDEX ? request : new Request(`http://offcut${url.slice(pathIndex)}`, request);
}
