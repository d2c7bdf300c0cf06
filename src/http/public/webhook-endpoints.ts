/** Webhook endpoints and their deliveries. */

import { Type } from "@sinclair/typebox";
import { requireFound } from "../../domain/errors";
import { MAX_URL_CHARACTERS } from "../../domain/field-limits";
import { listField, oneOf, strictObject } from "../../domain/schema-parts";
import { DELIVERY_STATES, ENDPOINT_STATES } from "../../domain/states";
import { EVENT_TYPES } from "../../domain/webhooks";
import {
  type Delivery,
  deleteEndpoint,
  findDelivery,
  findEndpoint,
  listDeliveries,
  listEndpoints,
  updateEndpoint,
  type WebhookEndpoint,
} from "../../store/webhooks";
import {
  createEndpoint,
  queueTestEvent,
  requeueDelivery,
  requireAllowedUrl,
  rotateSecret,
} from "../../work/webhooks/endpoints";
import { type Call, created, createOnce, ok } from "../call";
import { listRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { createOwnLoader, type ResourceLoader, route } from "../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../schemas";

const url = Type.String({
  minLength: 1,
  maxLength: MAX_URL_CHARACTERS,
  errorText: `must be a URL of at most ${MAX_URL_CHARACTERS} characters`,
});
const eventTypes = listField(oneOf(...EVENT_TYPES), 1, EVENT_TYPES.length, "event types");

const showEndpoint = (endpoint: WebhookEndpoint): Resource<"WebhookEndpoint"> =>
  showRow(SCHEMAS.WebhookEndpoint, endpoint, { old_secret_expires_at: formatTime(endpoint.old_secret_until) });

/** Includes the secret: only for the responses that create and rotate it. */
const showEndpointWithSecret = (endpoint: WebhookEndpoint): Resource<"WebhookEndpointWithSecret"> => ({
  ...showEndpoint(endpoint),
  secret: endpoint.secret,
});

const showDelivery = (delivery: Delivery): Resource<"Delivery"> =>
  showRow(SCHEMAS.Delivery, delivery, {
    event_type: delivery.type,
    response_status: delivery.last_status,
    response_milliseconds: delivery.last_milliseconds,
    error: delivery.last_error,
    next_attempt_at: formatTime(delivery.due_at),
  });

const showDeliveryReference = (deliveryId: string): Resource<"DeliveryReference"> => ({ delivery_id: deliveryId });

const load = createOwnLoader("Webhook endpoint", "endpoint_id", findEndpoint);

const loadWithDelivery: ResourceLoader<{ endpoint: WebhookEndpoint; delivery: Delivery }> = {
  name: "Delivery",
  find: async (call: Call) => {
    const endpoint = await load.find(call);
    const delivery = endpoint && (await findDelivery(call.services.store.read, endpoint.id, call.params.delivery_id!));
    return delivery && { endpoint, delivery };
  },
};

export const create = route({
  summary: "Register a webhook endpoint",
  example: { url: "https://studio.example/hooks", event_types: ["render.completed", "render.failed"] },
  errors: ["conflict"],
  body: strictObject({ url, event_types: eventTypes }),
  idempotent: true,
  responses: {
    201: respondsWith(
      "WebhookEndpointWithSecret",
      "The endpoint with its signing secret, which is shown only once: a replayed response has null",
    ),
  },
  handle: async (call, { body }) => {
    const { services } = call;
    const workspaceId = call.principal.workspace.id;
    await requireAllowedUrl(services, workspaceId, body.url);
    return createOnce(call, async (tx) => {
      const { url, event_types } = body;
      const endpoint = await createEndpoint(tx, { workspaceId, url, eventTypes: event_types, now: services.now() });
      return created(call.url(`/webhook-endpoints/${endpoint.id}`), showEndpointWithSecret(endpoint));
    });
  },
});

export const list = listRoute({
  summary: "List webhook endpoints, newest first",
  item: "WebhookEndpoint",
  description: "A page of endpoints",
  read: ({ services, principal }, { after, limit }) =>
    listEndpoints(services.store.read, principal.workspace.id, { afterId: after?.[0] ?? null, limit }),
  show: (_, endpoint) => showEndpoint(endpoint),
});

export const read = route({
  summary: "Retrieve a webhook endpoint",
  responses: { 200: respondsWith("WebhookEndpoint", "The endpoint") },
  load,
  handle: async (_, { resource }) => ok(showEndpoint(resource)),
});

export const update = route({
  summary: "Change, disable or enable a webhook endpoint",
  example: { state: "enabled" },
  body: strictObject({
    url: Type.Optional(url),
    event_types: Type.Optional(eventTypes),
    state: Type.Optional(oneOf(...ENDPOINT_STATES)),
  }),
  responses: { 200: respondsWith("WebhookEndpoint", "The updated endpoint") },
  load,
  handle: async ({ services, principal }, { body, resource }) => {
    if (body.url !== undefined) await requireAllowedUrl(services, principal.workspace.id, body.url);
    if (Object.keys(body).length === 0) return ok(showEndpoint(resource));
    const change: Parameters<typeof updateEndpoint>[2] = {};
    if (body.url !== undefined) change.url = body.url;
    if (body.event_types !== undefined) change.event_types = [...new Set(body.event_types)];
    if (body.state !== undefined) Object.assign(change, createStateChange(resource, body.state, services.now()));
    const changed = requireFound(
      await services.store.write((tx) => updateEndpoint(tx, resource.id, change)),
      load.name,
    );
    return ok(showEndpoint(changed));
  },
});

/** Returns the changes when a user enables or disables an endpoint. */
function createStateChange(
  endpoint: WebhookEndpoint,
  state: WebhookEndpoint["state"],
  now: number,
): Parameters<typeof updateEndpoint>[2] {
  // Restarts the five days after which a failing endpoint is disabled.
  const change = { state, failing_since: null };
  if (state === "enabled") return { ...change, disabled_at: null, disabled_reason: null };
  return endpoint.state === "disabled" ? change : { ...change, disabled_at: now, disabled_reason: "manual" };
}

export const remove = route({
  summary: "Delete a webhook endpoint",
  responses: { 204: respondsWithNothing("Deleted") },
  load,
  handle: ({ services }, { resource }) => services.store.write((tx) => deleteEndpoint(tx, resource.id)),
});

export const rotate = route({
  summary: "Replace the signing secret; the old one stays valid for 24 h",
  responses: { 200: respondsWith("WebhookEndpointWithSecret", "The endpoint with its new secret") },
  load,
  handle: async ({ services }, { resource }) => ok(showEndpointWithSecret(await rotateSecret(services, resource))),
});

export const test = route({
  summary: "Send a test event",
  errors: ["conflict"],
  responses: { 202: respondsWith("DeliveryReference", "The ID of the delivery") },
  load,
  handle: async ({ services }, { resource }) => ({
    status: 202,
    body: showDeliveryReference(await queueTestEvent(services, resource)),
  }),
});

export const listSent = listRoute({
  summary: "List deliveries of a webhook endpoint, newest first",
  filters: { state: Type.Optional(oneOf(...DELIVERY_STATES)) },
  item: "Delivery",
  description: "A page of deliveries",
  load,
  read: ({ services }, { parent, filters, after, limit }) =>
    listDeliveries(services.store.read, parent.id, {
      state: filters.state ?? null,
      after,
      limit,
    }),
  sortKey: (delivery: Delivery): [number, string] => [delivery.created_at, delivery.id],
  show: (_, delivery) => showDelivery(delivery),
});

export const readSent = route({
  summary: "Retrieve a delivery with its payload",
  responses: { 200: respondsWith("DeliveryDetail", "The delivery") },
  load: loadWithDelivery,
  handle: async (_, { resource: { delivery } }) => {
    const shown: Resource<"DeliveryDetail"> = { ...showDelivery(delivery), payload: delivery.body };
    return ok(shown);
  },
});

export const resend = route({
  summary: "Send a delivery again with the same ID",
  errors: ["conflict"],
  responses: { 202: respondsWith("DeliveryReference", "The ID of the delivery") },
  load: loadWithDelivery,
  handle: async ({ services }, { resource }) => {
    const delivery = await requeueDelivery(services, resource.endpoint, resource.delivery.id);
    return { status: 202, body: showDeliveryReference(delivery.id) };
  },
});
