/** The routes that a worker calls with the signed link of one execution. */
import { AppError } from "../../domain/errors";
import { bootMessage, checkpointMessage, resultMessage } from "../../domain/worker-messages";
import { EXECUTIONS } from "../../domain/workers";
import { findFile } from "../../lib/file-size";
import { noContent, ok, type Reply } from "../call";
import { replyWithFile } from "../file-response";
import { FILE_POLICY } from "../security-headers";
import type { CallOfWorker, WorkerRoute } from "./call";
import { getOutputOffset, writeOutput } from "./output-routes";
import { readBody } from "./read-body";

const MAX_CHECKPOINT_BYTES = 2 * 1024 ** 2;

async function serveFile({ services, request, cluster, id, params, context }: CallOfWorker): Promise<Reply> {
  const { path, key, modifiedAt } = cluster.executions.getFile(id, params.name ?? "");
  const file = await services.folders.guard.readOnline(() => findFile(path));
  if (file === null) throw new AppError("not_found", "The file was deleted.");
  context.connection.setIdleTimeout(DOWNLOAD_IDLE_SECONDS);
  return replyWithFile(request, {
    file,
    etag: `"${key}"`,
    modifiedAt: modifiedAt * 1000,
    headers: { "Content-Type": "application/octet-stream", "Content-Security-Policy": FILE_POLICY },
  });
}

/** A worker asks again for the rest. */
const DOWNLOAD_IDLE_SECONDS = 30;

export const executionRoutes: WorkerRoute[] = [
  {
    method: "POST",
    path: "/executions/:id/start",
    run: async (call) => {
      return ok(call.cluster.executions.start(call.id, await readBody(call, bootMessage)));
    },
  },
  { method: "GET", path: "/executions/:id/files/:name", run: serveFile },
  { method: "HEAD", path: "/executions/:id/files/:name", run: serveFile },
  { method: "HEAD", path: "/executions/:id/outputs/:name", run: getOutputOffset },
  { method: "PATCH", path: "/executions/:id/outputs/:name", run: writeOutput },
  {
    method: "POST",
    path: "/executions/:id/checkpoint",
    run: async (call) => {
      const { checkpoint, files } = await readBody(call, checkpointMessage, MAX_CHECKPOINT_BYTES);
      await call.cluster.executions.checkpoint(call.id, checkpoint, files);
      return noContent();
    },
  },
  {
    method: "POST",
    path: "/executions/:id/result",
    run: async (call) => {
      const kind = call.cluster.executions.findKind(call.id);
      const body = await readBody(call, resultMessage, kind === null ? undefined : EXECUTIONS[kind].maxResultBytes);
      // The check of large files takes longer than a client may take for its next request.
      call.context.connection.setIdleTimeout(0);
      await call.cluster.executions.finish(call.id, body);
      return noContent();
    },
  },
];
