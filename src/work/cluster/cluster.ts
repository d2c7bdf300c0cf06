/**
 * Connects the parts of a head: the workers that are online, their queues, the executions, and the places that the job
 * runner shares out.
 */

import type { SignedLinks } from "../../blobs/signed-links";
import { readCertificate } from "../../config";
import type { JobName } from "../../domain/jobs";
import { deriveSecret } from "../../lib/hash";
import { createPoller } from "../../lib/poller";
import { listRevokedWorkerIds } from "../../store/workers";
import type { MediaTools } from "../jobs/media-tools";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { createExecutions } from "./executions";
import { createWorkerPlaces } from "./other-places";
import { createRemoteRunner } from "./remote-run";
import type { WorkerNeeds } from "./worker-list";

const OWNER_CHARACTERS = 24;

/**
 * Creates the cluster of a server. Returns null without Redis: neither BullMQ nor the Redis client is loaded then.
 * Connects in the background. `secret` is known to the server only, and `slots` are those of this machine. Throws
 * `ConfigError`.
 */
export async function openCluster(
  services: WorkerNeeds & PipelineNeeds & { links: SignedLinks },
  tools: MediaTools,
  { secret, slots }: { secret: string; slots: Record<JobName, number> },
) {
  const { config, store, log, links, workerList } = services;
  if (config.redisUrl === null) return null;
  const ca = await readCertificate(config.ca);
  const { openTicketQueues } = await import("../../queue/bullmq");
  const tickets = openTicketQueues({ url: config.redisUrl, ca }, log);
  const { isReachable } = tickets;
  const wake = () => services.runner.wake();
  const executions = createExecutions({
    services,
    tickets,
    signExecution: links.signExecution,
    // A worker whose heartbeats resume or stop changes how many jobs run at the same time, and one with more free space
    // which.
    onRoom: wake,
    clock: () => performance.now(),
  });
  const places = createWorkerPlaces(services, { executions, isReachable, localSlots: slots });
  const remote = createRemoteRunner({
    services,
    tools,
    executions,
    getOwner: (workspaceId) => deriveSecret(secret, `owner ${workspaceId}`).slice(0, OWNER_CHARACTERS),
  });

  /** Revoked workers whose queues were removed. */
  const removed = new Set<string>();
  /** Removes the queues of revoked workers, also of those that were revoked while Redis was unreachable. */
  const removal = createPoller(
    async (): Promise<null> => {
      for (const worker of await listRevokedWorkerIds(store.read)) {
        if (!isReachable() || removal.isStopped) break;
        if (removed.has(worker)) continue;
        await tickets.removeQueue(worker).then(
          () => removed.add(worker),
          (error) => log.warn("queue.not_removed", { worker, error }),
        );
      }
      return null;
    },
    (error) => log.warn("queue.not_removed", { error }),
  );

  workerList.onChange(({ type, workerId }) => {
    if (type === "left" || type === "replaced" || type === "revoked")
      executions.loseWorker(workerId, `the worker was ${type}`);
    if (type === "revoked") removal.wake();
    wake();
  });
  tickets.onChange(() => {
    wake();
    removal.wake();
  });

  return {
    executions,
    places,
    remote,
    isReachable,
    start: () => {
      executions.startChecking();
      removal.start();
    },
    stop: async () => {
      executions.stop();
      await removal.stop();
      await tickets.close();
    },
  };
}

export type Cluster = NonNullable<Awaited<ReturnType<typeof openCluster>>>;

/** `cluster` is null without Redis. */
export type ClusterNeeds = WorkerNeeds & { cluster: Cluster | null };
