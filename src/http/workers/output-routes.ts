/** Resumable uploads of the files that an execution makes. */
import { parseByteCount } from "../../domain/bytes";
import { AppError } from "../../domain/errors";
import type { Reply } from "../call";
import { ACTIVE_IDLE_SECONDS } from "../connection";
import { readChunks } from "../read-chunks";
import { OFFSET_TYPE, parseUploadOffset } from "../uploads/protocol-headers";
import type { CallOfWorker } from "./call";

/** HEAD: returns the received bytes of the file. */
export async function getOutputOffset({ cluster, id, params }: CallOfWorker): Promise<Reply> {
  const offset = cluster.executions.getOutputOffset(id, params.name ?? "");
  return { status: 200, headers: { "Upload-Offset": String(offset) } };
}

/** PATCH: appends a part. */
export async function writeOutput({ cluster, request, context, id, params }: CallOfWorker): Promise<Reply> {
  const { headers, body } = request;
  if (headers.get("content-type") !== OFFSET_TYPE)
    throw new AppError("unsupported_media_type", `Request body must be sent as ${OFFSET_TYPE}.`);
  const offset = parseUploadOffset(headers);
  const length = parseByteCount(headers.get("upload-length"));
  if (length === null) throw new AppError("bad_request", "Upload-Length must be a number of bytes.");
  context.connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
  const reached = await cluster.executions.writeOutput(id, params.name ?? "", {
    offset,
    length,
    announced: parseByteCount(headers.get("content-length")),
    chunks: (signal) => readChunks(body, signal),
  });
  return { status: 204, headers: { "Upload-Offset": String(reached) } };
}
