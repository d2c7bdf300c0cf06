/** The routes that a worker calls with its join token. */
import { version } from "../../../package.json";
import { AppError } from "../../domain/errors";
import {
  announcementMessage,
  bootMessage,
  copiesMessage,
  executionsMessage,
  type HeartbeatAnswer,
  heartbeatMessage,
  type Membership,
  programMessage,
  type TokenCheck,
  type WorkerAnnouncement,
} from "../../domain/worker-messages";
import { getQueueName, WORKER_PROTOCOL } from "../../domain/workers";
import { findExistingAssetIds } from "../../store/assets";
import type { WorkerToken } from "../../store/workers";
import { HEARTBEAT_MS, LOST_AFTER_MS, refuseProtocol } from "../../work/cluster/worker-list";
import { authenticateWorker } from "../../work/cluster/worker-tokens";
import { readBearerToken } from "../authentication";
import { noContent, ok, type Reply } from "../call";
import { validate } from "../validation";
import { type CallOfWorker, readBody, type WorkerRoute } from "./call";

/** Throws `AppError` `unauthenticated`. */
async function requireToken({ request, services }: CallOfWorker): Promise<WorkerToken> {
  const token = readBearerToken(request);
  const found = token === null ? null : await authenticateWorker(services, token);
  if (!found) throw new AppError("unauthenticated", "Join token is invalid or was revoked.");
  return found;
}

/** Checks the version first: the other fields of another version may differ. */
async function readAnnouncement(call: CallOfWorker): Promise<WorkerAnnouncement> {
  const body = await readBody(call, programMessage);
  if (body.protocol !== WORKER_PROTOCOL) throw refuseProtocol(body);
  return validate(announcementMessage, body, "body");
}

const HANDLERS: Record<string, (call: CallOfWorker, token: WorkerToken) => Promise<Reply>> = {
  check: async (call, token) => {
    const program = await readBody(call, programMessage);
    if (program.protocol !== WORKER_PROTOCOL) throw refuseProtocol(program);
    const { services } = call;
    const isOnline = services.workerList.listOnline().some(({ tokenId }) => tokenId === token.id);
    const answer: TokenCheck = { name: token.name, version, isOnline, time: services.now() };
    return ok(answer);
  },
  join: async (call, token) => {
    const worker = await call.services.workerList.join(token, await readAnnouncement(call));
    const membership: Membership = {
      workerId: worker.id,
      queue: getQueueName(worker.id),
      heartbeatMs: HEARTBEAT_MS,
      lostAfterMs: LOST_AFTER_MS,
    };
    return ok(membership);
  },
  heartbeat: async (call, token) => {
    const heartbeat = await readBody(call, heartbeatMessage);
    const worker = call.services.workerList.heartbeat(token, heartbeat);
    if (!worker) throw new AppError("not_found", "Worker is unknown to this run of the server. Join again.");
    const { isDraining } = worker;
    const answer: HeartbeatAnswer = {
      isDraining,
      ...call.cluster.executions.heartbeat(heartbeat, heartbeat.running),
    };
    return ok(answer);
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

export const joinRoutes = Object.entries(HANDLERS).map(
  ([name, handle]): WorkerRoute => ({
    method: "POST",
    path: `/${name}`,
    run: async (call) => handle(call, await requireToken(call)),
  }),
);
