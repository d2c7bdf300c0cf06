/**
 * Route families. A family mounts routes and the TUS surface under a prefix, with its own authentication, error shape and rate limit. The
 * same routes can be in several families.
 */
import { AppError } from "../domain/errors";
import type { Log } from "../lib/log";
import type { Services } from "../work/services";
import type { Authenticate } from "./authentication";
import { toResponse, withHeaders } from "./call";
import type { Connection } from "./connection";
import { type ErrorShape, toErrorReply } from "./errors";
import type { RateLimiter } from "./rate-limit";
import type { Route } from "./route";
import { createTusErrorHeaders, parseUploadMethod, type UploadSurface } from "./uploads";

type FamilyDefinition = {
  /** The path below which everything is mounted, such as `/v1`. */
  prefix: string;
  authenticate: Authenticate;
  errorShape: ErrorShape;
  rateLimit: RateLimiter;
  routes: Route[];
  document: FamilyDocument;
};

/** What the OpenAPI document of a family says besides its routes. `guide` is the description at its head, in Markdown. */
export type FamilyDocument = {
  path: string;
  guide: string | null;
  /** By their names: one of them is needed. */
  securitySchemes: Record<string, object>;
};

/** The context of a request, known before it is routed. */
export type RequestContext = { requestId: string; log: Log; connection: Connection };

/** The dependencies of a family, provided by the server that it is mounted on. */
export type FamilyHost = {
  services: Services;
  /** Shared by the families, because it allows one write at a time to an upload. */
  uploads: UploadSurface;
  contextOf(request: Request): RequestContext;
};

/** `path` is absolute, with parameters as `:name`. */
export type MountedRoute = {
  method: string;
  path: string;
  handle(request: Request, params: Record<string, string>): Promise<Response>;
};

export type Family = FamilyDefinition & {
  /** Returns whether a path is below the prefix, whether or not a route exists for it. */
  contains(pathname: string): boolean;
  mount(host: FamilyHost): MountedRoute[];
};

/** Creates a family. */
export function family(definition: FamilyDefinition): Family {
  const { prefix, authenticate, errorShape, rateLimit, routes } = definition;

  async function runRoute(host: FamilyHost, route: Route, request: Request, params: Record<string, string>) {
    const { services } = host;
    const { requestId, log } = host.contextOf(request);
    const principal = await authenticate(request);
    const rate = rateLimit.take(principal.user.id, services.now());
    const url = (path: string) => `${prefix}${path}`;
    try {
      if (!rate.allowed) {
        const { retryAfterSeconds } = rate;
        throw new AppError("rate_limited", "Too many requests. Retry after the time in Retry-After.", {
          retryAfterSeconds,
        });
      }
      const reply = await route.run({ services, request, requestId, log, principal, url }, params);
      return toResponse({ ...reply, headers: { ...rate.headers, ...reply.headers } });
    } catch (error) {
      return withHeaders(toErrorResponse(error, errorShape, log), rate.headers);
    }
  }

  async function runUpload({ uploads, contextOf }: FamilyHost, request: Request, uploadId: string) {
    const { connection, log } = contextOf(request);
    try {
      // Before authentication: a request without a method of the protocol is for a path that does not exist.
      const method = parseUploadMethod(request);
      const { user } = await authenticate(request);
      return await uploads.handle(
        request,
        method,
        { user, connection, authorize: () => authenticate(request) },
        uploadId,
      );
    } catch (error) {
      const refused = toErrorResponse(error, errorShape, log);
      return withHeaders(refused, createTusErrorHeaders(refused.status));
    }
  }

  return {
    ...definition,
    contains: (pathname) => pathname === prefix || pathname.startsWith(`${prefix}/`),
    mount: (host) => {
      const mounted: MountedRoute[] = routes.map((route) => ({
        method: route.method,
        path: `${prefix}${route.path}`,
        handle: (request, params) => runRoute(host, route, request, params),
      }));
      const uploadPath = `${prefix}/uploads/:upload_id`;
      for (const method of ["HEAD", "PATCH", "DELETE", "POST"]) {
        const handle: MountedRoute["handle"] = (request, params) => runUpload(host, request, params.upload_id!);
        mounted.push({ method, path: uploadPath, handle });
      }
      mounted.push({ method: "OPTIONS", path: uploadPath, handle: async () => host.uploads.options() });
      return mounted;
    },
  };
}

/** Converts an error to a response in this shape. Logs an error that is not an `AppError`. */
export const toErrorResponse = (error: unknown, shape: ErrorShape, log: Log): Response =>
  toResponse(toErrorReply(error, shape, (unknown) => log.error("request.failed", { error: unknown })));
