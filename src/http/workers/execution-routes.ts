/** The routes that a worker calls with the signed link of one execution, such as resumable uploads of its files. */

import { parseByteCount } from "../../domain/bytes";
import { AppError, badRequest } from "../../domain/errors";
import { bootMessage, checkpointMessage, resultMessage } from "../../domain/worker-messages";
import { EXECUTIONS } from "../../domain/workers";
import { findFile } from "../../lib/file-size";
import { noContent, ok, type Reply } from "../call";
import { ACTIVE_IDLE_SECONDS } from "../client";
import { replyWithFile } from "../file-response";
import { readChunks } from "../read-chunks";
import { FILE_POLICY } from "../security-headers";
import { OFFSET_TYPE, parseUploadOffset } from "../uploads/protocol-headers";
import { type CallOfWorker, readBody, type WorkerRoute } from "./call";

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

/** HEAD: returns the received bytes of the file. */
async function getOutputOffset({ cluster, id, params }: CallOfWorker): Promise<Reply> {
  const offset = cluster.executions.getOutputOffset(id, params.name ?? "");
  return { status: 200, headers: { "Upload-Offset": String(offset) } };
}

/** PATCH: appends a part. */
async function writeOutput({ cluster, request, context, id, params }: CallOfWorker): Promise<Reply> {
  const { headers, body } = request;
  if (headers.get("content-type") !== OFFSET_TYPE)
    throw new AppError("unsupported_media_type", `Request body must be sent as ${OFFSET_TYPE}.`);
  const offset = parseUploadOffset(headers);
  const length = parseByteCount(headers.get("upload-length"));
  if (length === null) throw badRequest("Upload-Length must be a number of bytes.");
  context.connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
  const reached = await cluster.executions.writeOutput(id, params.name ?? "", {
    offset,
    length,
    announced: parseByteCount(headers.get("content-length")),
    chunks: (signal) => readChunks(body, signal),
  });
  return { status: 204, headers: { "Upload-Offset": String(reached) } };
}
