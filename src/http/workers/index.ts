/**
 * The routes of workers on other machines: joining and heartbeats with a join token, and those of one execution with
 * its signed link. They are no part of the API, and exist only on a server with Redis.
 */
import { AppError } from "../../domain/errors";
import { isUuid } from "../../lib/ids";
import type { Cluster } from "../../work/cluster/cluster";
import { WrongFilesError } from "../../work/cluster/incoming-files";
import type { Services } from "../../work/services";
import { toResponseTo } from "../call";
import { publicErrorShape } from "../errors";
import { type MountedRoute, type RequestContext, toErrorResponse } from "../family";
import type { WorkerRoute } from "./call";
import { executionRoutes } from "./execution-routes";
import { joinRoutes } from "./join-routes";

const PREFIX = "/workers";

/** Returns the routes for the server. `contextOf` as for a family. */
export function createWorkerRoutes(
  services: Services,
  cluster: Cluster,
  contextOf: (request: Request) => RequestContext,
): MountedRoute[] {
  const mount = (route: WorkerRoute, check: (request: Request, id: string) => void): MountedRoute => ({
    method: route.method,
    path: `${PREFIX}${route.path}`,
    handle: async (request, params) => {
      const context = contextOf(request);
      try {
        const id = (params.id ?? "").toLowerCase();
        check(request, id);
        return toResponseTo(request, await route.run({ services, cluster, request, context, id, params }));
      } catch (error) {
        return toErrorResponse(toAppError(error), request, publicErrorShape, context.log);
      }
    },
  });
  const requireSignature = (request: Request, id: string) => {
    const signature = new URL(request.url).searchParams.get("signature");
    if (!isUuid(id) || !services.links.verifyExecution(id, signature))
      throw new AppError("not_found", "Execution link is invalid, or the execution has ended.");
  };
  return [
    ...joinRoutes.map((route) => mount(route, () => {})),
    ...executionRoutes.map((route) => mount(route, requireSignature)),
  ];
}

function toAppError(error: unknown): unknown {
  if (!(error instanceof WrongFilesError)) return error;
  const fields = error.names.map((name) => ({ field: name, message: "is not as announced: send it again" }));
  return new AppError("validation_error", "Files differ from their sizes or checksums.", { fields });
}
