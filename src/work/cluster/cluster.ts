/** Connects the parts of a head: the workers that are online, their queues, the executions, and the places that the job runner shares out. */

import type { SignedLinks } from "../../blobs/signed-links";
import type { JobName } from "../../domain/jobs";
import { type EncodingFacts, type TicketQueues, WORKER_JOBS } from "../../domain/workers";
import { deriveSecret } from "../../lib/hash";
import type { MediaTools } from "../jobs/media-tools";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { createExecutions, type Executions } from "./executions";
import { createPlaces, type Places } from "./places";
import { createQueueRemoval } from "./queue-removal";
import { createRemoteRunner, type RemoteRunner } from "./remote-run";
import { createSchedulingPlaces, type SchedulingPlaces } from "./scheduling-places";
import type { WorkerNeeds } from "./worker-list";

export type ClusterOptions = {
  services: WorkerNeeds & PipelineNeeds & { links: SignedLinks };
  tools: MediaTools;
  tickets: TicketQueues;
  localSlots: Record<JobName, number>;
  extraSlots: Record<JobName, number>;
  findLocalEncoding(): EncodingFacts | null;
  /** Only the head knows it. */
  secret: string;
  timeSliceMs: number;
};

/** `cluster` is null without Redis. */
export type ClusterNeeds = WorkerNeeds & { cluster: Cluster | null };

export type Cluster = {
  executions: Executions;
  places: Places;
  remote: RemoteRunner;
  scheduling: SchedulingPlaces;
  /** Returns how many jobs of each name run at the same time, here and on workers. */
  countSlots(): Record<JobName, number>;
  /** Returns whether Redis responds. */
  isReachable(): boolean;
  start(): void;
  stop(): Promise<void>;
};

const OWNER_CHARACTERS = 24;

export function createCluster(options: ClusterOptions): Cluster {
  const { services, tools, tickets, localSlots, secret } = options;
  const { workerList, log } = services;
  const clock = () => performance.now();
  const listWorkers = () => workerList.listOnline();
  let lastSlots = "";

  const executions = createExecutions({
    tickets,
    history: workerList,
    storage: services,
    findBoot: (workerId) => listWorkers().find((worker) => worker.id === workerId)?.announcement.bootId ?? null,
    signExecution: services.links.signExecution,
    onRoom: () => {
      places.wake();
      // A worker whose heartbeats resume or stop changes how many jobs run at the same time, and one with more free space which.
      const slots = WORKER_JOBS.map((job) => places.countSlots(job)).join();
      if (slots !== lastSlots || scheduling.hasRunnable()) services.runner.wake();
      lastSlots = slots;
    },
    log,
    clock,
  });
  const places = createPlaces({
    listWorkers,
    countEnding: executions.countEnding,
    trouble: executions.trouble,
    isReachable: tickets.isReachable,
    localSlots,
    extraSlots: options.extraSlots,
    findLocalEncoding: options.findLocalEncoding,
    timeSliceMs: options.timeSliceMs,
    clock,
  });
  const scheduling = createSchedulingPlaces(services, places, localSlots);
  const getOwner = (workspaceId: string) => deriveSecret(secret, `owner ${workspaceId}`).slice(0, OWNER_CHARACTERS);
  const { findLocalEncoding } = options;
  const remote = createRemoteRunner({ services, tools, executions, places, getOwner, findLocalEncoding });

  const update = () => {
    places.wake();
    services.runner.wake();
  };
  workerList.onChange(({ type, workerId }) => {
    if (type === "left" || type === "replaced" || type === "revoked")
      executions.loseWorker(workerId, `the worker was ${type}`);
    if (type === "revoked") forgetQueues.add(workerId);
    update();
  });
  tickets.onChange(update);
  const forgetQueues = createQueueRemoval(services, tickets);

  return {
    executions,
    places,
    remote,
    scheduling,
    countSlots: () => {
      const slots = { ...localSlots };
      for (const job of WORKER_JOBS) slots[job] = places.countSlots(job);
      return slots;
    },
    isReachable: tickets.isReachable,
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
