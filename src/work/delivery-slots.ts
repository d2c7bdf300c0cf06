/** Who may send webhooks at the same time: limits for each endpoint, for each user and overall, and turns between users. */
import type { DueDelivery } from "../store/delivery-queue";

export const MAX_PER_ENDPOINT = 4;
const MAX_PER_USER = 8;
/** Beyond this a user may only have one, so that receivers that hang never delay the first delivery of somebody else. */
const MAX_SHARED = 32;
const MAX_TOTAL = 256;

export type DeliverySlots = {
  /** Returns whether another delivery of the user may start now. */
  hasRoom(userId: string): boolean;
  /** Returns the user whose turn it is: the one with the fewest deliveries in flight, then the one served longest ago. Null: no room. */
  nextUser(userIds: Iterable<string>): string | null;
  /** Returns which of the user's due deliveries comes next: to the endpoint with the fewest in flight, then the first. Null: none may start. */
  nextDelivery(userId: string, due: DueDelivery[]): DueDelivery | null;
  /** Takes a slot and the user's turn. Returns the function that frees the slot. */
  acquire(userId: string, delivery: DueDelivery): () => void;
};

export function createDeliverySlots(): DeliverySlots {
  const inFlight = new Set<string>();
  const byUser = new Map<string, number>();
  const byEndpoint = new Map<string, number>();
  /** The turn in which a user was last served; users that are not in it were never. */
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
