/**
 * Route families. A family mounts routes and the TUS surface under a prefix, with its own authentication, error shape
 * and rate limit. The same routes can be in several families.
 */
import { AppError, retryLater } from "../domain/errors";
import { isUuid } from "../lib/ids";
import type { Log } from "../lib/log";
import { type Caller, enterWorkspace, type Principal, type RouteAccess, UPLOAD_ACCESS } from "../work/access/access";
import type { Services } from "../work/services";
import type { Authenticate } from "./authentication";
import {
  createAuthorReader,
  hideAuthors,
  isReadMethod,
  type Reauthorize,
  toResponse,
  toResponseTo,
  withHeaders,
} from "./call";
import type { Connection, RequestClient } from "./client";
import { type ErrorShape, toErrorReply } from "./errors";
import type { Guide } from "./guide";
import { NO_LIMIT, type RateLimiter } from "./rate-limit";
import type { JsonObject } from "./response-docs";
import { type Route, WORKSPACE_HEADER } from "./route";
import { describeRoute } from "./route-detail";
import { parseUploadMethod, UPLOAD_METHODS, type UploadSurface } from "./uploads";
import { CREATION_DETAIL, SIGNED_PUT_DETAIL, TUS_DETAILS } from "./uploads/details";
import { createTusErrorHeaders, RESUMABLE_PATH } from "./uploads/protocol-headers";
import { SIGNED_PUT_PATH, type SignedPut } from "./uploads/signed-put";

export type FamilyDefinition = {
  /** The path below which everything is mounted, such as `/v1`. */
  prefix: string;
  authenticate: Authenticate;
  /** Checks a call without authentication that is not GET or HEAD. May throw `AppError` `forbidden`. */
  checkOpenCall?: (request: Request, client: RequestClient) => void;
  errorShape: ErrorShape;
  rateLimit: RateLimiter;
  routes: Route[];
  /** Mounts the TUS surface under `/uploads`. */
  hasUploads?: boolean;
  /** Creates uploads with signed links and without a length. Mounts the PUT of the links. */
  hasSignedUploads?: boolean;
  /** Whether callers can name the workspace in which they act, and resources show their creators. */
  hasWorkspaces?: boolean;
  document: FamilyDocument;
};

/** The contents of a family's OpenAPI document besides its routes. `guide` is the description at its head. */
export type FamilyDocument = {
  path: string;
  guide: Guide;
  /** Keyed by name. One of them is needed. */
  securitySchemes: Record<string, object>;
};

/** The context of a request, known before it is routed. */
export type RequestContext = { requestId: string; log: Log; connection: Connection; client: RequestClient };

/** The dependencies of a family, provided by the server that it is mounted on. */
export type FamilyHost = {
  services: Services;
  /** Shared by the families, because it allows only one write at a time per upload. */
  uploads: UploadSurface;
  signedPut: SignedPut;
  contextOf(request: Request): RequestContext;
};

/** `path` is absolute, with parameters as `:name`. */
export type MountedRoute = {
  method: string;
  path: string;
  handle(request: Request, params: Record<string, string>): Promise<Response>;
};

/** A route with its operation in the OpenAPI document; `{ hide: true }` if it is not shown there. */
export type FamilyRoute = MountedRoute & { detail(): JsonObject };

export type Family = FamilyDefinition & {
  /** Returns whether a path is below the prefix, whether or not a route exists for it. */
  contains(pathname: string): boolean;
  mount(host: FamilyHost): FamilyRoute[];
};

export function family(definition: FamilyDefinition): Family {
  const { prefix, authenticate, checkOpenCall, errorShape, rateLimit, routes, hasWorkspaces } = definition;

  async function runRoute(host: FamilyHost, route: Route, request: Request, params: Record<string, string>) {
    const { services } = host;
    const { requestId, log, client } = host.contextOf(request);
    const { access } = route;
    const isOpen = access.authentication === "none";
    if (isOpen && !isReadMethod(request.method)) checkOpenCall?.(request, client);
    const caller = isOpen ? null : await authenticate(request, client, access);
    const rate = caller && access.rateLimited ? rateLimit.take(caller.user.id, services.now()) : NO_LIMIT;
    const url = (path: string) => `${prefix}${path}`;
    try {
      if (!rate.allowed) {
        const { retryAfterSeconds } = rate;
        throw retryLater("rate_limited", "Too many requests. Retry after the time in Retry-After.", retryAfterSeconds);
      }
      const rights = { access, isRead: isReadMethod(request.method), inPath: readPathWorkspace(params) };
      const principal = caller && (await enter(services, caller, request, rights));
      const reauthorize: Reauthorize = async (options) =>
        enter(services, await authenticate(request, client, { ...access, ...options }), request, rights);
      const authorship =
        principal && hasWorkspaces ? createAuthorReader(services.store.read, principal.user) : hideAuthors;
      const received = { services, request, requestId, log, client, url, authorship, reauthorize };
      const reply = await route.run(received, params, principal);
      return toResponseTo(request, { ...reply, headers: { ...rate.headers, ...reply.headers } });
    } catch (error) {
      const refused = toErrorResponse(error, request, errorShape, log);
      return withHeaders(refused, { ...rate.headers, ...route.errorHeaders(refused.status) });
    }
  }

  async function runUpload({ services, uploads, contextOf }: FamilyHost, request: Request, uploadId: string) {
    const { connection, log, client } = contextOf(request);
    try {
      // Before authentication: a request without a method of the protocol is for a path that does not exist.
      const method = parseUploadMethod(request);
      const rights = { access: UPLOAD_ACCESS, isRead: isReadMethod(method), inPath: null };
      const authorize = async () =>
        enter(services, await authenticate(request, client, UPLOAD_ACCESS), request, rights);
      const { workspace } = await authorize();
      return await uploads.handle(request, method, { workspaceId: workspace.id, connection, authorize }, uploadId);
    } catch (error) {
      const refused = toErrorResponse(error, request, errorShape, log);
      return withHeaders(refused, createTusErrorHeaders(refused.status));
    }
  }

  return {
    ...definition,
    contains: (pathname) => pathname === prefix || pathname.startsWith(`${prefix}/`),
    mount: (host) => {
      const mounted: FamilyRoute[] = routes.map((route) => ({
        method: route.method,
        path: `${prefix}${route.path}`,
        detail: () => describeRoute(route, definition),
        handle: (request, params) => runRoute(host, route, request, params),
      }));
      const discover = async () => host.uploads.options(definition.hasSignedUploads ?? false);
      if (definition.hasUploads) {
        const path = `${prefix}/uploads/:upload_id`;
        const handle: MountedRoute["handle"] = (request, params) => runUpload(host, request, params.upload_id!);
        mounted.push(
          { method: "OPTIONS", path, detail: () => TUS_DETAILS.OPTIONS, handle: discover },
          ...UPLOAD_METHODS.map((method) => ({ method, path, detail: () => TUS_DETAILS[method], handle })),
          { method: "POST", path, detail: () => ({ hide: true }), handle },
        );
      }
      if (definition.hasSignedUploads) {
        const send: MountedRoute["handle"] = (request, params) =>
          host.signedPut(request, params.upload_id!, host.contextOf(request).connection);
        mounted.push(
          { method: "PUT", path: `${prefix}${SIGNED_PUT_PATH}`, detail: () => SIGNED_PUT_DETAIL, handle: send },
          { method: "OPTIONS", path: `${prefix}${RESUMABLE_PATH}`, detail: () => CREATION_DETAIL, handle: discover },
        );
      }
      return mounted;
    },
  };
}

/** Returns the principal of a request in the workspace that it names. Errors: those of `enterWorkspace`. */
const enter = (
  { store }: Services,
  caller: Caller,
  request: Request,
  rights: { access: RouteAccess; isRead: boolean; inPath: string | null },
): Promise<Principal> => enterWorkspace(store.read, caller, { ...rights, requested: readRequestedWorkspace(request) });

/** Returns the workspace in the path; null if its ID is missing or malformed, to which the route responds with 404. */
const readPathWorkspace = ({ workspace_id: id }: Record<string, string>): string | null =>
  id !== undefined && isUuid(id) ? id : null;

/** Returns the ID in the header or, for a GET, in the query: media elements and event sources send no headers. */
const readRequestedWorkspace = ({ headers, method, url }: Request): string | null =>
  headers.get(WORKSPACE_HEADER) ?? (method === "GET" ? new URL(url).searchParams.get("workspace_id") : null);

/**
 * Converts an error to a response in this shape. Logs the cause; errors other than `AppError` count as failures, unless
 * the client has closed the connection.
 */
export function toErrorResponse(error: unknown, { signal }: Request, shape: ErrorShape, log: Log): Response {
  logRefusal(error, log);
  const isAborted = signal.aborted && error instanceof Error && error.name === "AbortError";
  const logFailure = (unknown: unknown) =>
    isAborted ? log.debug("request.aborted") : log.error("request.failed", { error: unknown });
  return toResponse(toErrorReply(error, shape, logFailure));
}

/** Logs a rejected request with the cause of the error, which the client does not receive. */
export function logRefusal(error: unknown, log: Log): void {
  if (!(error instanceof AppError)) return;
  const { code, cause } = error;
  log.debug("request.refused", { code, reason: typeof cause === "string" ? cause : undefined });
}
