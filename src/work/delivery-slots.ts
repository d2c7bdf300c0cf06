/** Limits concurrent webhook deliveries for each endpoint, for each user and overall, and lets users take turns. */
import type { DueDelivery } from "../store/delivery-queue";

export const MAX_PER_ENDPOINT = 4;
const MAX_PER_USER = 8;
/** Above this, a user may have only one delivery in flight, so that slow receivers do not delay the first delivery of another user. */
const MAX_SHARED = 32;
const MAX_TOTAL = 256;

export type DeliverySlots = {
  /** Returns whether another delivery of the user may start now. */
  hasRoom(userId: string): boolean;
  /** Returns the user with the fewest deliveries in flight, among those the one served longest ago; null when no slot is free. */
  nextUser(userIds: Iterable<string>): string | null;
  /** Returns the user's first due delivery to the endpoint with the fewest in flight; null when none may start. */
  nextDelivery(userId: string, due: DueDelivery[]): DueDelivery | null;
  /** Occupies a slot, which counts as the user's turn. Returns a function that releases the slot. */
  acquire(userId: string, delivery: DueDelivery): () => void;
};

export function createDeliverySlots(): DeliverySlots {
  const inFlight = new Set<string>();
  const byUser = new Map<string, number>();
  const byEndpoint = new Map<string, number>();
  /** When a user was last served, as a sequence number. Missing users have not been served. */
  const servedAt = new Map<string, number>();
  let sequence = 0;

  const hasRoom = (userId: string): boolean => {
    const own = byUser.get(userId) ?? 0;
    if (inFlight.size >= MAX_SHARED) return own === 0 && inFlight.size < MAX_TOTAL;
    return own < MAX_PER_USER;
  };

  return {
    hasRoom,
    nextUser: (userIds) => {
      let next: string | null = null;
      for (const userId of userIds) {
        if (!hasRoom(userId)) continue;
        if (next === null || isBefore(userId, next)) next = userId;
      }
      return next;
    },
    nextDelivery: (userId, due) => {
      if (!hasRoom(userId)) return null;
      let next: DueDelivery | null = null;
      for (const one of due) {
        const sent = byEndpoint.get(one.endpointId) ?? 0;
        if (sent >= MAX_PER_ENDPOINT || inFlight.has(one.id)) continue;
        if (next === null || sent < (byEndpoint.get(next.endpointId) ?? 0)) next = one;
      }
      return next;
    },
    acquire: (userId, delivery) => {
      inFlight.add(delivery.id);
      add(byUser, userId, 1);
      add(byEndpoint, delivery.endpointId, 1);
      servedAt.delete(userId);
      servedAt.set(userId, ++sequence);
      return () => {
        inFlight.delete(delivery.id);
        add(byUser, userId, -1);
        add(byEndpoint, delivery.endpointId, -1);
        if (servedAt.size > MAX_SERVED_USERS) servedAt.delete(servedAt.keys().next().value!);
      };
    },
  };

  function isBefore(userId: string, other: string): boolean {
    const difference = (byUser.get(userId) ?? 0) - (byUser.get(other) ?? 0);
    return difference < 0 || (difference === 0 && (servedAt.get(userId) ?? 0) < (servedAt.get(other) ?? 0));
  }
}

const MAX_SERVED_USERS = 10_000;

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
