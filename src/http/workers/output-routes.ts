/** Resumable uploads of the files that an execution makes. */
import { AppError } from "../../domain/errors";
import type { IncomingPart } from "../../work/cluster/incoming-files";
import { claimSpace } from "../../work/storage/limits";
import type { Reply } from "../call";
import { ACTIVE_IDLE_SECONDS } from "../connection";
import type { CallOfWorker } from ".";

const PART_TYPE = "application/offset+octet-stream";

/** HEAD: how many bytes of the file are there. */
export async function getOutputOffset({ cluster, id, params }: CallOfWorker): Promise<Reply> {
  const offset = cluster.executions.getOutputOffset(id, params.name ?? "");
  return { status: 200, headers: { "Upload-Offset": String(offset) } };
}

/** PATCH: appends a part. */
export async function writeOutput({ services, cluster, request, context, id, params }: CallOfWorker): Promise<Reply> {
  if (request.headers.get("content-type") !== PART_TYPE)
    throw new AppError("unsupported_media_type", `Request body must be sent as ${PART_TYPE}.`);
  const offset = readNumber(request, "Upload-Offset");
  const length = readNumber(request, "Upload-Length");
  context.connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
  const body = openBody(request);
  const claim = (bytes: number) => claimSpace(services, bytes);
  const reached = await cluster.executions.writeOutput(id, params.name ?? "", { offset, length, claim, ...body });
  return { status: 204, headers: { "Upload-Offset": String(reached) } };
}

function readNumber(request: Request, header: string): number {
  const text = request.headers.get(header) ?? "";
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new AppError("bad_request", `${header} must be a number of bytes.`);
}

/** Returns the chunks of the body. A connection that breaks is no failure of the server: what has arrived is kept. */
function openBody({ body }: Request): Pick<IncomingPart, "chunks" | "cancel"> {
  const reader = body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  async function* read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const result = await reader?.read().catch((cause) => {
        throw new AppError("bad_request", "Request body ended before all bytes were received.", { cause });
      });
      if (result === undefined || result.done) return;
      yield result.value;
    }
  }
  return { chunks: read(), cancel: () => void reader?.cancel().catch(() => {}) };
}
