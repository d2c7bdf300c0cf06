/**
 * Emits the events of the outbox: an event and its deliveries are written in the transaction that changed the state.
 * Each emitter accepts only the events of its entity, and `EventPayloads` ties each event to its payload.
 */
import type { EventPayloads, EventType } from "../../domain/webhooks";
import { sha256 } from "../../lib/hash";
import { newId } from "../../lib/ids";
import type { Asset } from "../../store/assets";
import type { Cut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import type { Render } from "../../store/renders";
import { insertDelivery, insertEvent, listEnabledEndpoints, type WebhookEndpoint } from "../../store/webhooks";

/** The events of one kind of entity, such as `asset.…`. */
type EventsOf<Entity extends string> = Extract<EventType, `${Entity}.${string}`>;

/** Emits a state of the asset, if it is a source. `previousState`: the last announced state. */
export async function emitAssetEvent(
  tx: Queries,
  asset: Asset,
  type: EventsOf<"asset">,
  now: number,
  previousState: string | null = null,
): Promise<void> {
  if (asset.kind !== "source") return;
  const { id, project_id, external_id } = asset;
  const data = { entity_id: id, asset_id: id, project_id, external_id, previous_state: previousState };
  return emitEvent(tx, asset.workspace_id, type, data, now);
}

export function emitCutEvent(tx: Queries, cut: Cut, type: EventsOf<"cut">, now: number): Promise<void> {
  return emitEvent(tx, cut.workspace_id, type, { entity_id: cut.id, asset_id: cut.asset_id }, now);
}

export function emitRenderEvent(tx: Queries, render: Render, type: EventsOf<"render">, now: number): Promise<void> {
  const data = { entity_id: render.id, asset_id: render.asset_id, cut_id: render.cut_id };
  return emitEvent(tx, render.workspace_id, type, data, now);
}

/**
 * Writes the event and a delivery for each endpoint that subscribes to it. Does nothing when the entity has emitted
 * this event before.
 */
async function emitEvent<Type extends EventType>(
  tx: Queries,
  workspaceId: string,
  type: Type,
  data: EventPayloads[Type],
  now: number,
): Promise<void> {
  const id = newId();
  const isNew = await insertEvent(tx, {
    id,
    workspace_id: workspaceId,
    type,
    entity_id: data.entity_id,
    data,
    created_at: now,
  });
  if (!isNew) return;
  const body = JSON.stringify({ type, data });
  for (const endpoint of await listEnabledEndpoints(tx, workspaceId))
    if (endpoint.event_types.includes(type)) await queueDelivery(tx, endpoint, { event_id: id, type, body }, now);
}

/** Queues an event, whose body is JSON text, for delivery to an endpoint. Returns the ID of the delivery. */
export async function queueDelivery(
  tx: Queries,
  { id: endpoint_id, workspace_id }: WebhookEndpoint,
  event: { event_id: string; type: string; body: string },
  now: number,
): Promise<string> {
  const id = createWebhookId(endpoint_id, event.event_id);
  await insertDelivery(tx, { id, endpoint_id, workspace_id, ...event, state: "pending", due_at: now, created_at: now });
  return id;
}

/** Returns the `webhook-id`, derived from endpoint and event: a UUID of version 8 (RFC 9562), whose bits are a hash. */
function createWebhookId(endpointId: string, eventId: string): string {
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
