/**
 * Limits concurrent webhook deliveries for each endpoint, for each workspace and overall, and lets workspaces take
 * turns.
 */
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
  /** When a workspace was last served, as a sequence number. Missing workspaces have not been served. */
  const servedAt = new Map<string, number>();
  let sequence = 0;

  const hasRoom = (workspaceId: string): boolean => {
    const own = byWorkspace.get(workspaceId) ?? 0;
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
    nextWorkspace: (workspaceIds: Iterable<string>) => {
      let next: string | null = null;
      for (const workspaceId of workspaceIds) {
        if (!hasRoom(workspaceId)) continue;
        if (next === null || isBefore(workspaceId, next)) next = workspaceId;
      }
      return next;
    },
    /**
     * Returns the workspace's first due delivery to the endpoint with the fewest in flight; null when none may start.
     */
    nextDelivery: (workspaceId: string, due: DueDelivery[]) => {
      if (!hasRoom(workspaceId)) return null;
      let next: DueDelivery | null = null;
      for (const one of due) {
        const sent = byEndpoint.get(one.endpointId) ?? 0;
        if (sent >= MAX_PER_ENDPOINT || inFlight.has(one.id)) continue;
        if (next === null || sent < (byEndpoint.get(next.endpointId) ?? 0)) next = one;
      }
      return next;
    },
    /** Occupies a slot, which counts as the workspace's turn. Returns a function that releases the slot. */
    acquire: (workspaceId: string, delivery: DueDelivery) => {
      inFlight.add(delivery.id);
      add(byWorkspace, workspaceId, 1);
      add(byEndpoint, delivery.endpointId, 1);
      servedAt.delete(workspaceId);
      servedAt.set(workspaceId, ++sequence);
      return () => {
        inFlight.delete(delivery.id);
        add(byWorkspace, workspaceId, -1);
        add(byEndpoint, delivery.endpointId, -1);
        if (servedAt.size > MAX_SERVED_WORKSPACES) servedAt.delete(servedAt.keys().next().value!);
      };
    },
  };

  function isBefore(workspaceId: string, other: string): boolean {
    const difference = (byWorkspace.get(workspaceId) ?? 0) - (byWorkspace.get(other) ?? 0);
    return difference < 0 || (difference === 0 && (servedAt.get(workspaceId) ?? 0) < (servedAt.get(other) ?? 0));
  }
}

export type DeliverySlots = ReturnType<typeof createDeliverySlots>;

const MAX_SERVED_WORKSPACES = 10_000;

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
