/** The routes that a worker calls with its join token. */
import { version } from "../../../package.json";
import { AppError } from "../../domain/errors";
import { getQueueName, WORKER_PROTOCOL, type WorkerAnnouncement } from "../../domain/workers";
import { findExistingAssetIds } from "../../store/assets";
import type { WorkerToken } from "../../store/workers";
import { refuseProtocol } from "../../work/cluster/worker-announcement";
import { HEARTBEAT_MS, LOST_AFTER_MS } from "../../work/cluster/worker-list";
import { authenticateWorker } from "../../work/cluster/worker-tokens";
import { noContent, ok } from "../call";
import { validate } from "../validation";
import type { CallOfWorker, WorkerRoute } from "./call";
import { readBody } from "./read-body";
import { announcementSchema, bootSchema, copiesSchema, endedSchema, heartbeatSchema, versionSchema } from "./schemas";

/** Throws `AppError` `unauthenticated`. */
async function requireToken({ request, services }: CallOfWorker): Promise<WorkerToken> {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  const found = token === undefined ? null : await authenticateWorker(services, token);
  if (!found) throw new AppError("unauthenticated", "Join token is invalid or was revoked.");
  return found;
}

/** Checks the version first: the other fields of another version may differ. */
async function readAnnouncement(call: CallOfWorker): Promise<WorkerAnnouncement> {
  const body = await readBody(call, versionSchema);
  if (body.protocol !== WORKER_PROTOCOL) throw refuseProtocol(body);
  const { boot_id, free_bytes, encoding, ...same } = validate(announcementSchema, body, "body");
  const { has_zscale, ...facts } = encoding;
  return { ...same, bootId: boot_id, freeBytes: free_bytes, encoding: { ...facts, hasZscale: has_zscale } };
}

export const joinRoutes: WorkerRoute[] = [
  {
    method: "POST",
    path: "/check",
    run: async (call) => {
      const token = await requireToken(call);
      const program = await readBody(call, versionSchema);
      if (program.protocol !== WORKER_PROTOCOL) throw refuseProtocol(program);
      const { services } = call;
      const isOnline = services.workerList.listOnline().some(({ tokenId }) => tokenId === token.id);
      return ok({ name: token.name, version, is_online: isOnline, time: new Date(services.now()).toISOString() });
    },
  },
  {
    method: "POST",
    path: "/join",
    run: async (call) => {
      const token = await requireToken(call);
      const worker = await call.services.workerList.join(token, await readAnnouncement(call));
      return ok({
        worker_id: worker.id,
        queue: getQueueName(worker.id),
        heartbeat_ms: HEARTBEAT_MS,
        lost_after_ms: LOST_AFTER_MS,
      });
    },
  },
  {
    method: "POST",
    path: "/heartbeat",
    run: async (call) => {
      const token = await requireToken(call);
      const { worker_id, boot_id, free_bytes, has_redis, running } = await readBody(call, heartbeatSchema);
      const boot = { workerId: worker_id, bootId: boot_id };
      const heartbeat = { ...boot, freeBytes: free_bytes, hasRedis: has_redis, running };
      const worker = call.services.workerList.heartbeat(token, heartbeat);
      if (!worker) throw new AppError("not_found", "Worker is unknown to this run of the server. Join again.");
      return ok({ is_draining: worker.isDraining, ...call.cluster.executions.heartbeat(boot, running) });
    },
  },
  {
    method: "POST",
    path: "/copies",
    run: async (call) => {
      await requireToken(call);
      const { assets } = await readBody(call, copiesSchema);
      const existing = await findExistingAssetIds(call.services.store.read, assets);
      return ok({ deleted: assets.filter((id) => !existing.has(id)) });
    },
  },
  {
    method: "POST",
    path: "/ended",
    run: async (call) => {
      const token = await requireToken(call);
      const { executions } = await readBody(call, endedSchema);
      return ok({ ended: await call.services.workerList.findEnded(token, executions) });
    },
  },
  {
    method: "POST",
    path: "/leave",
    run: async (call) => {
      const token = await requireToken(call);
      const { worker_id, boot_id } = await readBody(call, bootSchema);
      call.services.workerList.leave(token, { workerId: worker_id, bootId: boot_id });
      return noContent();
    },
  },
];
