/**
 * Limits concurrent webhook deliveries for each endpoint, for each workspace and overall, and lets workspaces take
 * turns.
 */
import { createTurns } from "../../lib/turns";
import type { DueDelivery } from "../../store/delivery-queue";

export const MAX_PER_ENDPOINT = 4;
const MAX_PER_WORKSPACE = 8;
/** Above this, a workspace may have only one delivery in flight, so that slow receivers do not delay others. */
const MAX_SHARED = 32;
const MAX_TOTAL = 256;

export function createDeliverySlots() {
  const inFlight = new Set<string>();
  const byWorkspace = new Map<string, number>();
  const byEndpoint = new Map<string, number>();
  const turns = createTurns();
  const getCount = (counts: Map<string, number>, key: string): number => counts.get(key) ?? 0;

  const hasRoom = (workspaceId: string): boolean => {
    const own = getCount(byWorkspace, workspaceId);
    if (inFlight.size >= MAX_SHARED) return own === 0 && inFlight.size < MAX_TOTAL;
    return own < MAX_PER_WORKSPACE;
  };

  return {
    /** Returns whether another delivery of the workspace may start now. */
    hasRoom,
    /**
     * Returns the workspace with the fewest deliveries in flight, then the one served longest ago; null if no slot is
     * free.
     */
    nextWorkspace: (workspaceIds: Iterable<string>): string | null => {
      let first: string | null = null;
      const isBefore = (a: string, b: string) =>
        (getCount(byWorkspace, a) - getCount(byWorkspace, b) || turns.compare(a, b)) < 0;
      for (const id of workspaceIds) if (hasRoom(id) && (first === null || isBefore(id, first))) first = id;
      return first;
    },
    /**
     * Returns the workspace's first due delivery to the endpoint with the fewest in flight; null when none may start.
     */
    nextDelivery: (workspaceId: string, due: DueDelivery[]): DueDelivery | null => {
      if (!hasRoom(workspaceId)) return null;
      const count = ({ endpointId }: DueDelivery) => getCount(byEndpoint, endpointId);
      const free = due.filter((one) => count(one) < MAX_PER_ENDPOINT && !inFlight.has(one.id));
      return free.toSorted((a, b) => count(a) - count(b))[0] ?? null;
    },
    /** Occupies a slot, which counts as the workspace's turn. Returns a function that releases the slot. */
    acquire: (workspaceId: string, delivery: DueDelivery) => {
      inFlight.add(delivery.id);
      add(byWorkspace, workspaceId, 1);
      add(byEndpoint, delivery.endpointId, 1);
      turns.take(workspaceId);
      return () => {
        inFlight.delete(delivery.id);
        add(byWorkspace, workspaceId, -1);
        add(byEndpoint, delivery.endpointId, -1);
      };
    },
  };
}

export type DeliverySlots = ReturnType<typeof createDeliverySlots>;

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
