/**
 * The queues of workers in Redis, through BullMQ. Nothing else of the server imports BullMQ, and only a configured
 * Redis loads this file.
 */
import { Queue } from "bullmq";
import type { Ticket } from "../domain/worker-messages";
import { getQueueName } from "../domain/workers";
import type { Log } from "../lib/log";
import { openRedis, type RedisAddress, watchRedis, withTimeout } from "./bullmq-connection";

/** Opens the queues in Redis that carry tickets, one for each worker. Connects in the background. */
export function openTicketQueues(address: RedisAddress, log: Log) {
  // A command that cannot be sent now fails, so that nothing accumulates while Redis is unreachable.
  const redis = openRedis(address, { enableOfflineQueue: false });
  const queues = new Map<string, Queue<Ticket>>();
  const listeners: (() => void)[] = [];
  const pulse = watchRedis(redis, log, () => {
    for (const listener of listeners) listener();
  });

  function getQueue(workerId: string, options: { skipMetasUpdate?: boolean } = {}): Queue<Ticket> {
    const known = queues.get(workerId);
    if (known) return known;
    const queue = new Queue<Ticket>(getQueueName(workerId), {
      ...options,
      connection: redis,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      streams: { events: { maxLen: 16 } },
    });
    // The pulse reports errors of the connection.
    queue.on("error", () => {});
    queues.set(workerId, queue);
    return queue;
  }

  return {
    /** Adds a ticket. Keeps an existing one. Errors: those of the connection, after a few seconds at most. */
    add: async (workerId: string, ticket: Ticket) => {
      if (!pulse.isReachable()) throw new Error("Redis is not reachable");
      try {
        await withTimeout(getQueue(workerId).add("execution", ticket, { jobId: ticket.execution }));
      } catch (error) {
        pulse.distrust();
        throw error;
      }
    },
    /** Removes a ticket that the worker has not taken. Ignores errors. */
    remove: async (workerId: string, execution: string) => {
      if (!pulse.isReachable()) return;
      await withTimeout(getQueue(workerId).remove(execution)).catch(() => {});
    },
    /** Removes the queue of a worker with everything in it. Errors: as `add`. */
    removeQueue: async (workerId: string) => {
      if (!pulse.isReachable()) throw new Error("Redis is not reachable");
      const queue = getQueue(workerId, { skipMetasUpdate: true });
      queues.delete(workerId);
      try {
        await withTimeout(queue.obliterate({ force: true }));
        await withTimeout(redis.del(`bull:${getQueueName(workerId)}:stalled-check`));
      } finally {
        // It listens to the connection, which stays.
        await withTimeout(queue.close()).catch(() => {});
      }
    },
    /** Returns whether Redis answered lately. */
    isReachable: () => pulse.isReachable() === true,
    /** Calls `listener` when Redis becomes reachable or unreachable. */
    onChange: (listener: () => void) => {
      listeners.push(listener);
    },
    close: async () => {
      pulse.stop();
      for (const queue of queues.values()) await withTimeout(queue.close()).catch(() => {});
      redis.disconnect();
    },
  };
}

export type TicketQueues = ReturnType<typeof openTicketQueues>;
