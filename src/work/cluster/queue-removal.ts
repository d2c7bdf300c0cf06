/** Removes the queues of revoked workers from Redis, including workers that were revoked while it was unreachable. */
import type { TicketQueues } from "../../domain/worker-messages";
import { listRevokedWorkerIds } from "../../store/workers";
import type { CoreNeeds } from "../needs";

type QueueRemoval = {
  /** Removes the queue of a worker, as soon as Redis is reachable. */
  add(workerId: string): void;
  /** Removes the queues of all revoked workers in the database. */
  start(): Promise<void>;
};

export function createQueueRemoval(
  { store, log }: CoreNeeds,
  tickets: Pick<TicketQueues, "isReachable" | "onChange" | "removeQueue">,
): QueueRemoval {
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
    add: (workerId) => {
      pending.add(workerId);
      void removePending();
    },
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
