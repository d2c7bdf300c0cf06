/** The routes that a worker calls with the signed link of one execution. */
import type { Static } from "@sinclair/typebox";
import { AppError } from "../../domain/errors";
import { MAX_PLAN_FILE_BYTES } from "../../domain/plan-file";
import type { ExecutionKind } from "../../domain/workers";
import { findFile } from "../../lib/file-size";
import type { ExecutionReport } from "../../work/cluster/execution-request";
import { noContent, ok, type Reply } from "../call";
import { replyWithFile } from "../file-response";
import { FILE_POLICY } from "../security-headers";
import type { CallOfWorker, WorkerRoute } from "./call";
import { getOutputOffset, writeOutput } from "./output-routes";
import { readBody } from "./read-body";
import { bootSchema, checkpointSchema, resultSchema } from "./schemas";

const MEBIBYTE = 1024 ** 2;
const MAX_CHECKPOINT_BYTES = 2 * MEBIBYTE;
/** A plan is a text in the JSON text, which escapes its quotation marks. */
const MAX_RESULT_BYTES: Record<ExecutionKind, number> = {
  prepare: MEBIBYTE,
  cut: 2 * MAX_PLAN_FILE_BYTES + MEBIBYTE,
  render: MEBIBYTE,
  // 20,000 chunks of one segment. The server parses it between other requests.
  split: 8 * MEBIBYTE,
  chunk: MEBIBYTE,
  join: MEBIBYTE,
};

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

function toResult(body: Static<typeof resultSchema>): ExecutionReport {
  const { status, output, files, error } = body;
  switch (status) {
    case "completed":
      return { status, output, files: files ?? [] };
    case "failed":
      return { status, error: error ?? {} };
    default:
      return { status };
  }
}

export const executionRoutes: WorkerRoute[] = [
  {
    method: "POST",
    path: "/executions/:id/start",
    run: async (call) => {
      const { worker_id, boot_id } = await readBody(call, bootSchema);
      return ok(call.cluster.executions.start(call.id, { workerId: worker_id, bootId: boot_id }));
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
      const { checkpoint, files } = await readBody(call, checkpointSchema, MAX_CHECKPOINT_BYTES);
      await call.cluster.executions.checkpoint(call.id, checkpoint, files);
      return noContent();
    },
  },
  {
    method: "POST",
    path: "/executions/:id/result",
    run: async (call) => {
      const kind = call.cluster.executions.findKind(call.id);
      const body = await readBody(call, resultSchema, kind === null ? undefined : MAX_RESULT_BYTES[kind]);
      // The check of large files takes longer than a client may take for its next request.
      call.context.connection.setIdleTimeout(0);
      await call.cluster.executions.finish(call.id, toResult(body));
      return noContent();
    },
  },
];
