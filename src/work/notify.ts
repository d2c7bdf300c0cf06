/** Telling what happened: the event and its deliveries are written in the transaction that made it happen (outbox). */
import type { EventData } from "../domain/webhooks";
import { newId, sha256 } from "../lib/ids";
import type { Queries } from "../store/db";
import { insertEvent } from "../store/events";
import { insertDelivery, listeningEndpoints } from "../store/webhooks";

export type Telling = { userId: string; type: string; data: EventData; now: number };

/** Tells an event of the entity once: telling it again changes nothing, and no endpoint hears of it twice. */
export async function tell(tx: Queries, { userId, type, data, now }: Telling): Promise<void> {
  const id = newId();
  const isNew = await insertEvent(tx, { id, user_id: userId, type, entity_id: data.entity_id, data, created_at: now });
  if (!isNew) return;
  const body = JSON.stringify({ type, data });
  for (const endpoint of await listeningEndpoints(tx, userId)) {
    if (!endpoint.event_types.includes(type)) continue;
    await insertDelivery(tx, {
      id: webhookId(endpoint.id, id),
      endpoint_id: endpoint.id,
      user_id: userId,
      event_id: id,
      type,
      body,
      state: "pending",
      due_at: now,
      created_at: now,
    });
  }
}

/** The `webhook-id`, derived from endpoint and event: a UUID of version 8 (RFC 9562), whose bits are a hash. */
export function webhookId(endpointId: string, eventId: string): string {
  const hex = sha256(`webhook\0${endpointId}\0${eventId}`);
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
