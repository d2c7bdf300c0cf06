/**
 * The routes of workers on other machines: joining and heartbeats with a join token, and those of one execution with
 * its signed link. They are not part of the API, and exist only on a server with Redis.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { version } from "../../../package.json";
import { parseByteCount } from "../../domain/bytes";
import { AppError, badRequest } from "../../domain/errors";
import {
  announcementMessage,
  bootMessage,
  checkpointMessage,
  copiesMessage,
  executionsMessage,
  type HeartbeatAnswer,
  heartbeatMessage,
  type Membership,
  programMessage,
  resultMessage,
  type TokenCheck,
  type WorkerProgram,
} from "../../domain/worker-messages";
import { EXECUTIONS, getQueueName, WORKER_PROTOCOL } from "../../domain/workers";
import { findFile } from "../../lib/file-size";
import { isUuid } from "../../lib/ids";
import { runLargeTasksSerially } from "../../lib/large-tasks";
import { findExistingAssetIds } from "../../store/assets";
import type { WorkerToken } from "../../store/workers";
import type { Cluster } from "../../work/cluster/cluster";
import { WrongFilesError } from "../../work/cluster/incoming-files";
import { HEARTBEAT_MS, LOST_AFTER_MS, refuseProtocol } from "../../work/cluster/worker-list";
import { authenticateWorker } from "../../work/cluster/worker-tokens";
import type { Services } from "../../work/services";
import { readBearerToken } from "../authentication";
import { noContent, ok, type Reply, toResponseTo } from "../call";
import { ACTIVE_IDLE_SECONDS } from "../client";
import { publicErrorShape } from "../errors";
import { type MountedRoute, type RequestContext, toErrorResponse } from "../family";
import { replyWithFile } from "../file-response";
import { MAX_BODY_BYTES, parseBody, readBodyText } from "../parse-request";
import { readChunks } from "../read-chunks";
import { FILE_POLICY } from "../security-headers";
import { OFFSET_TYPE, parseUploadOffset } from "../uploads/protocol-headers";
import { validate } from "../validation";

/** A call of a worker. `id` is that of the execution, in lower case, on the routes of one. */
type CallOfWorker = {
  services: Services;
  cluster: Cluster;
  request: Request;
  context: RequestContext;
  id: string;
  params: Record<string, string>;
};

type WorkerHandler = (call: CallOfWorker) => Promise<Reply>;

const PREFIX = "/workers";
const MAX_CHECKPOINT_BYTES = 2 * 1024 ** 2;
/** A worker asks again for the rest. */
const DOWNLOAD_IDLE_SECONDS = 30;

/** Throws `AppError` as for the API. */
async function readBody<S extends TSchema>(
  { request, services }: CallOfWorker,
  schema: S,
  maxBytes = MAX_BODY_BYTES,
): Promise<Static<S>> {
  const timeoutMs = services.config.requestTimeoutSeconds * 1000;
  const text = await readBodyText(request, { type: "json", maxBytes, timeoutMs });
  return runLargeTasksSerially(text, () => parseBody(schema, text));
}

/**
 * Reads the fields that every version sends. The other fields differ between versions. Throws `AppError` `conflict` for
 * another version of the protocol.
 */
async function readProgram(call: CallOfWorker): Promise<WorkerProgram> {
  const program = await readBody(call, programMessage);
  if (program.protocol !== WORKER_PROTOCOL) throw refuseProtocol(program);
  return program;
}

/** The routes that a worker calls with its join token, by their names. */
const JOIN_ROUTES: Record<string, (call: CallOfWorker, token: WorkerToken) => Promise<Reply>> = {
  check: async (call, token) => {
    await readProgram(call);
    const { workerList, now } = call.services;
    const isOnline = workerList.listOnline().some(({ tokenId }) => tokenId === token.id);
    return ok({ name: token.name, version, isOnline, time: now() } satisfies TokenCheck);
  },
  join: async (call, token) => {
    const announcement = validate(announcementMessage, await readProgram(call), "body");
    const { id: workerId } = await call.services.workerList.join(token, announcement);
    const times = { heartbeatMs: HEARTBEAT_MS, lostAfterMs: LOST_AFTER_MS };
    return ok({ workerId, queue: getQueueName(workerId), ...times } satisfies Membership);
  },
  heartbeat: async (call, token) => {
    const heartbeat = await readBody(call, heartbeatMessage);
    const worker = call.services.workerList.heartbeat(token, heartbeat);
    if (!worker) throw new AppError("not_found", "Worker is unknown to this run of the server. Join again.");
    const { isDraining } = worker;
    const orders = call.cluster.executions.heartbeat(heartbeat, heartbeat.running);
    return ok({ isDraining, ...orders } satisfies HeartbeatAnswer);
  },
  copies: async (call) => {
    const { assets } = await readBody(call, copiesMessage);
    const existing = await findExistingAssetIds(call.services.store.read, assets);
    return ok({ deleted: assets.filter((id) => !existing.has(id)) });
  },
  ended: async (call, token) => {
    const { executions } = await readBody(call, executionsMessage);
    return ok({ ended: await call.services.workerList.findEnded(token, executions) });
  },
  leave: async (call, token) => {
    call.services.workerList.leave(token, await readBody(call, bootMessage));
    return noContent();
  },
};

/** Throws `AppError` `unauthenticated`. */
async function requireToken({ request, services }: CallOfWorker): Promise<WorkerToken> {
  const token = readBearerToken(request);
  const found = token === null ? null : await authenticateWorker(services, token);
  if (!found) throw new AppError("unauthenticated", "Join token is invalid or was revoked.");
  return found;
}

/** The routes that a worker calls with the signed link of one execution, such as resumable uploads of its files. */
const EXECUTION_ROUTES: [method: string, path: string, run: WorkerHandler][] = [
  ["POST", "start", async (call) => ok(call.cluster.executions.start(call.id, await readBody(call, bootMessage)))],
  ["GET", "files/:name", serveFile],
  ["HEAD", "files/:name", serveFile],
  ["HEAD", "outputs/:name", getOutputOffset],
  ["PATCH", "outputs/:name", writeOutput],
  ["POST", "checkpoint", storeCheckpoint],
  ["POST", "result", endExecution],
];

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

async function storeCheckpoint(call: CallOfWorker): Promise<Reply> {
  const { checkpoint, files } = await readBody(call, checkpointMessage, MAX_CHECKPOINT_BYTES);
  await call.cluster.executions.checkpoint(call.id, checkpoint, files);
  return noContent();
}

async function endExecution(call: CallOfWorker): Promise<Reply> {
  const { executions } = call.cluster;
  const kind = executions.findKind(call.id);
  const body = await readBody(call, resultMessage, kind === null ? undefined : EXECUTIONS[kind].maxResultBytes);
  // The check of large files takes longer than a client may take for its next request.
  call.context.connection.setIdleTimeout(0);
  await executions.finish(call.id, body);
  return noContent();
}

function requireSignature({ request, services, id }: CallOfWorker): void {
  const signature = new URL(request.url).searchParams.get("signature");
  if (!isUuid(id) || !services.links.verifyExecution(id, signature))
    throw new AppError("not_found", "Execution link is invalid, or the execution has ended.");
}

/** Returns the routes for the server. `contextOf` as for a family. */
export function createWorkerRoutes(
  services: Services,
  cluster: Cluster,
  contextOf: (request: Request) => RequestContext,
): MountedRoute[] {
  const mount = (method: string, path: string, run: WorkerHandler): MountedRoute => ({
    method,
    path: `${PREFIX}/${path}`,
    handle: async (request, params) => {
      const context = contextOf(request);
      try {
        const id = (params.id ?? "").toLowerCase();
        return toResponseTo(request, await run({ services, cluster, request, context, id, params }));
      } catch (error) {
        return toErrorResponse(toAppError(error), request, publicErrorShape, context.log);
      }
    },
  });
  return [
    ...Object.entries(JOIN_ROUTES).map(([name, run]) =>
      mount("POST", name, async (call) => run(call, await requireToken(call))),
    ),
    ...EXECUTION_ROUTES.map(([method, path, run]) =>
      mount(method, `executions/:id/${path}`, async (call) => {
        requireSignature(call);
        return run(call);
      }),
    ),
  ];
}

function toAppError(error: unknown): unknown {
  if (!(error instanceof WrongFilesError)) return error;
  const fields = error.names.map((name) => ({ field: name, message: "is not as announced: send it again" }));
  return new AppError("validation_error", "Files differ from their sizes or checksums.", { fields });
}
