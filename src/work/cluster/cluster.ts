/**
 * Connects the parts of a head: the workers that are online, their queues, the executions, and the places that the job
 * runner shares out.
 */

import type { SignedLinks } from "../../blobs/signed-links";
import { readCertificate } from "../../config";
import type { JobName } from "../../domain/jobs";
import type { EncodingFacts, TicketQueues } from "../../domain/worker-messages";
import { deriveSecret } from "../../lib/hash";
import { listRevokedWorkerIds } from "../../store/workers";
import { type MediaTools, readEncodingFacts } from "../jobs/media-tools";
import type { CoreNeeds } from "../needs";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { createExecutions } from "./executions";
import { createWorkerPlaces } from "./other-places";
import { createRemoteRunner } from "./remote-run";
import type { WorkerNeeds } from "./worker-list";

type ClusterOptions = {
  services: WorkerNeeds & PipelineNeeds & { links: SignedLinks };
  tools: MediaTools;
  tickets: TicketQueues;
  localSlots: Record<JobName, number>;
  findLocalEncoding(): EncodingFacts | null;
  /** Only the head knows it. */
  secret: string;
};

/** `cluster` is null without Redis. */
export type ClusterNeeds = WorkerNeeds & { cluster: Cluster | null };

const OWNER_CHARACTERS = 24;

function createCluster({ services, tools, tickets, ...options }: ClusterOptions) {
  const { workerList, log } = services;
  const { localSlots, secret, findLocalEncoding } = options;
  const { isReachable } = tickets;
  const wake = () => services.runner.wake();
  const executions = createExecutions({
    tickets,
    history: workerList,
    contact: workerList.contact,
    storage: services,
    findBoot: (workerId) => workerList.listOnline().find(({ id }) => id === workerId)?.announcement.bootId ?? null,
    signExecution: services.links.signExecution,
    // A worker whose heartbeats resume or stop changes how many jobs run at the same time, and one with more free space
    // which.
    onRoom: wake,
    log,
    clock: () => performance.now(),
  });
  const places = createWorkerPlaces(services, { executions, isReachable, localSlots });
  const getOwner = (workspaceId: string) => deriveSecret(secret, `owner ${workspaceId}`).slice(0, OWNER_CHARACTERS);
  const remote = createRemoteRunner({ services, tools, executions, getOwner, findLocalEncoding });
  const forgetQueues = createQueueRemoval(services, tickets);

  workerList.onChange(({ type, workerId }) => {
    if (type === "left" || type === "replaced" || type === "revoked")
      executions.loseWorker(workerId, `the worker was ${type}`);
    if (type === "revoked") forgetQueues.add(workerId);
    wake();
  });
  tickets.onChange(wake);

  return {
    executions,
    places,
    remote,
    isReachable,
    start: () => {
      executions.startChecking();
      void forgetQueues.start();
    },
    stop: async () => {
      executions.stop();
      await tickets.close();
    },
  };
}

export type Cluster = ReturnType<typeof createCluster>;

/** Removes the queues of revoked workers from Redis, including workers that were revoked while it was unreachable. */
function createQueueRemoval(
  { store, log }: CoreNeeds,
  tickets: Pick<TicketQueues, "isReachable" | "onChange" | "removeQueue">,
) {
  const pending = new Set<string>();

  async function removePending(): Promise<void> {
    if (!tickets.isReachable()) return;
    for (const workerId of [...pending]) {
      try {
        pending.delete(workerId);
        await tickets.removeQueue(workerId);
      } catch (error) {
        pending.add(workerId);
        log.warn("queue.not_removed", { worker: workerId, error });
        // If Redis does not respond: again when it is back, or at the next start.
        return;
      }
    }
  }

  tickets.onChange(() => void removePending());
  return {
    /** Removes the queue of a worker, as soon as Redis is reachable. */
    add: (workerId: string) => {
      pending.add(workerId);
      void removePending();
    },
    /** Removes the queues of all revoked workers in the database. */
    start: async () => {
      try {
        for (const id of await listRevokedWorkerIds(store.read)) pending.add(id);
      } catch (error) {
        log.warn("queue.not_removed", { error });
      }
      await removePending();
    },
  };
}

/** `slots` are those of this machine. `secret` is known to the server only. */
type LocalRuns = { secret: string; slots: Record<JobName, number> };

/**
 * Creates the cluster of a server. Returns null without Redis: neither BullMQ nor the Redis client is loaded then.
 * Connects in the background. Throws `ConfigError`.
 */
export async function openCluster(
  services: ClusterOptions["services"],
  tools: MediaTools,
  { secret, slots }: LocalRuns,
): Promise<Cluster | null> {
  const { config, log } = services;
  if (config.redisUrl === null) return null;
  const ca = await readCertificate(config.ca);
  const { openTicketQueues } = await import("../../queue/bullmq");
  let localEncoding: EncodingFacts | null = null;
  void tools
    .encoder()
    .then(async (encoder) => {
      localEncoding = await readEncodingFacts(tools.ffmpeg, encoder);
    })
    .catch((error) => log.warn("encoder.unavailable", { error }));
  return createCluster({
    services,
    tools,
    tickets: openTicketQueues({ url: config.redisUrl, ca }, log),
    localSlots: slots,
    findLocalEncoding: () => localEncoding,
    secret,
  });
}
