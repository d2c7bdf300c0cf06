/**
 * The control socket: runs the shell's commands in a running server, and serves its metrics and its readiness. File
 * permissions decide who may connect.
 */
import { version } from "../../package.json";
import { AppError, badRequest } from "../domain/errors";
import { isStorageFull } from "../domain/storage-full";
import type { Log } from "../lib/log";
import { runAdmin } from "../work/access/admin-commands";
import { checkReadiness } from "../work/health/readiness";
import type { Services } from "../work/services";
import { isReadMethod, toResponse } from "./call";
import { publicErrorShape, toErrorReply } from "./errors";
import { createMetricsReply, METRICS_PATH } from "./metrics";

/**
 * Creates the handler of `POST /` with `{ command, args }` and of `GET /metrics` and `/readyz`. Responds with the
 * result, or with an error in the public shape.
 */
export function createControlHandler(services: Services, log: Log): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const readPath = isReadMethod(request.method) ? new URL(request.url).pathname : null;
      if (readPath === METRICS_PATH) return toResponse(await createMetricsReply(services));
      if (readPath === "/readyz") {
        const readiness = await checkReadiness(services);
        return toResponse({ status: readiness.ready ? 200 : 503, body: { ...readiness, version } });
      }
      const { command, args } = (await request.json()) as { command: string; args: Record<string, unknown> };
      if (typeof command !== "string") throw badRequest("Field `command` must be the name of a command.");
      const result = await runAdmin(services, command, args ?? {});
      log.info("command.completed", { command });
      return toResponse({ status: 200, body: result });
    } catch (error) {
      return toResponse(
        toErrorReply(nameFullDisk(error), publicErrorShape, (unknown) =>
          log.error("command.failed", { error: unknown }),
        ),
      );
    }
  };
}

/**
 * The owner of the folder learns which disk is full and how much space is needed. Other users learn only that the disk
 * is full.
 */
function nameFullDisk(error: unknown): unknown {
  return isStorageFull(error) ? new AppError("upstream_unavailable", (error as Error).message) : error;
}
