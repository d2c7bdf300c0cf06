/** Connects the parts of a head: the workers that are online, their queues, the executions, and the places that the job runner shares out. */

import type { SignedLinks } from "../../blobs/signed-links";
import type { JobName } from "../../domain/jobs";
import type { EncodingFacts, TicketQueues } from "../../domain/worker-messages";
import { deriveSecret } from "../../lib/hash";
import type { MediaTools } from "../jobs/media-tools";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { createExecutions, type Executions } from "./executions";
import { createWorkerPlaces, type WorkerPlaces } from "./other-places";
import { createQueueRemoval } from "./queue-removal";
import { createRemoteRunner, type RemoteRunner } from "./remote-run";
import type { WorkerNeeds } from "./worker-list";

export type ClusterOptions = {
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

export type Cluster = {
  executions: Executions;
  places: WorkerPlaces;
  remote: RemoteRunner;
  /** Returns whether Redis responds. */
  isReachable(): boolean;
  start(): void;
  stop(): Promise<void>;
};

const OWNER_CHARACTERS = 24;

export function createCluster({ services, tools, tickets, ...options }: ClusterOptions): Cluster {
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
    // A worker whose heartbeats resume or stop changes how many jobs run at the same time, and one with more free space which.
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
