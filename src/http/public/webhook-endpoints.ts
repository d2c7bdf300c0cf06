/** /v1/webhook-endpoints */
import { Type } from "@sinclair/typebox";
import { EVENT_TYPES } from "../../domain/webhooks";
import { toPage } from "../../store/paging";
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
import { withIdempotencyKey } from "../../work/idempotency";
import { createEndpoint, queueTestEvent, requeueDelivery, requireAllowedUrl, rotateSecret } from "../../work/webhooks";
import { type Call, created, formatTime, noContent, ok } from "../call";
import { oneOf, pagingParameters, strictObject } from "../fields";
import { respondsWith, respondsWithNothing, respondsWithPage } from "../response-docs";
import { type Route, route } from "../route";

const url = Type.String({ minLength: 1, maxLength: 2048, errorText: "must be a URL of at most 2048 characters" });
const eventTypes = Type.Array(oneOf(...EVENT_TYPES), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  errorText: `must be a list of 1 to ${EVENT_TYPES.length} event types`,
});

const show = (endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  url: endpoint.url,
  event_types: endpoint.event_types,
  state: endpoint.state,
  created_at: formatTime(endpoint.created_at),
});

/** With the secret: on making and on rotating, and never again. */
const showWithSecret = (endpoint: WebhookEndpoint) => ({ ...show(endpoint), secret: endpoint.secret });

const showDelivery = (delivery: Delivery) => ({
  id: delivery.id,
  event_type: delivery.type,
  state: delivery.state,
  attempts: delivery.attempts,
  response_status: delivery.last_status,
  response_milliseconds: delivery.last_milliseconds,
  error: delivery.last_error,
  created_at: formatTime(delivery.created_at),
  last_attempt_at: formatTime(delivery.last_attempt_at),
  next_attempt_at: formatTime(delivery.due_at),
});

const path = "/webhook-endpoints/:endpoint_id";
const load = (call: Call) => findEndpoint(call.services.store.read, call.user.id, call.params.endpoint_id!);

export const webhookRoutes: Route[] = [
  route({
    method: "POST",
    path: "/webhook-endpoints",
    summary: "Register a webhook endpoint",
    example: { url: "https://studio.example/hooks", event_types: ["render.completed", "render.failed"] },
    errors: ["conflict"],
    body: strictObject({ url, event_types: eventTypes }),
    idempotent: true,
    responses: {
      201: respondsWith(
        "WebhookEndpointWithSecret",
        "The endpoint with its signing secret, which is shown once: in a repeated answer it is null",
      ),
    },
    handle: async ({ services, user, idempotency }, { body }) => {
      await requireAllowedUrl(services, user.id, body.url);
      const now = services.now();
      return services.store.write((tx) =>
        withIdempotencyKey(tx, idempotency, now, async () => {
          const endpoint = await createEndpoint(tx, {
            userId: user.id,
            url: body.url,
            eventTypes: body.event_types,
            now,
          });
          const reply = created(`/v1/webhook-endpoints/${endpoint.id}`, showWithSecret(endpoint));
          return { status: reply.status, body: reply.body, headers: reply.headers ?? {} };
        }),
      );
    },
  }),
  route({
    method: "GET",
    path: "/webhook-endpoints",
    summary: "List webhook endpoints, the newest first",
    query: strictObject(pagingParameters()),
    responses: { 200: respondsWithPage("WebhookEndpoint", "A page of endpoints") },
    handle: async ({ services, user }, { query }) => {
      const list = `webhook-endpoints ${user.id}`;
      const rows = await listEndpoints(services.store.read, user.id, {
        afterId: query.cursor ? String(services.cursors.decode(list, query.cursor)[0]) : null,
        limit: query.limit + 1,
      });
      return ok(toPage(rows, query.limit, show, (row) => services.cursors.encode(list, [row.id])));
    },
  }),
  route({
    method: "GET",
    path,
    summary: "Read a webhook endpoint",
    responses: { 200: respondsWith("WebhookEndpoint", "The endpoint") },
    load,
    handle: async (_, { resource }) => ok(show(resource)),
  }),
  route({
    method: "PATCH",
    path,
    summary: "Change a webhook endpoint, switch it off or on again",
    example: { state: "enabled" },
    body: strictObject({
      url: Type.Optional(url),
      event_types: Type.Optional(eventTypes),
      state: Type.Optional(oneOf("enabled", "disabled")),
    }),
    responses: { 200: respondsWith("WebhookEndpoint", "The endpoint as it is now") },
    load,
    handle: async ({ services, user }, { body, resource }) => {
      if (body.url !== undefined) await requireAllowedUrl(services, user.id, body.url);
      if (Object.keys(body).length === 0) return ok(show(resource));
      const changed = await services.store.write((tx) =>
        updateEndpoint(tx, resource.id, {
          ...(body.url === undefined ? {} : { url: body.url }),
          ...(body.event_types === undefined ? {} : { event_types: [...new Set(body.event_types)] }),
          // Switched on again, it gets its five days anew.
          ...(body.state === undefined ? {} : { state: body.state, failing_since: null }),
        }),
      );
      return ok(show(changed ?? resource));
    },
  }),
  route({
    method: "DELETE",
    path,
    summary: "Remove a webhook endpoint",
    responses: { 204: respondsWithNothing("Removed") },
    load,
    handle: async ({ services }, { resource }) => {
      await services.store.write((tx) => deleteEndpoint(tx, resource.id));
      return noContent();
    },
  }),
  route({
    method: "POST",
    path: `${path}/rotate-secret`,
    summary: "Give the endpoint a new secret; the old one signs for 24 h more",
    responses: { 200: respondsWith("WebhookEndpointWithSecret", "The endpoint with its new secret") },
    load,
    handle: async ({ services }, { resource }) => ok(showWithSecret(await rotateSecret(services, resource))),
  }),
  route({
    method: "POST",
    path: `${path}/test`,
    summary: "Send a test event",
    errors: ["conflict"],
    responses: { 202: respondsWith("DeliveryReference", "The delivery's id") },
    load,
    handle: async ({ services }, { resource }) => ({
      status: 202,
      body: { delivery_id: await queueTestEvent(services, resource) },
    }),
  }),
  route({
    method: "GET",
    path: `${path}/deliveries`,
    summary: "List what was sent to the endpoint, the newest first",
    query: strictObject(pagingParameters()),
    responses: { 200: respondsWithPage("Delivery", "A page of deliveries") },
    load,
    handle: async ({ services }, { query, resource }) => {
      const list = `deliveries ${resource.id}`;
      const after = query.cursor ? services.cursors.decode(list, query.cursor) : null;
      const rows = await listDeliveries(services.store.read, resource.id, {
        after: after && { createdAt: Number(after[0]), id: String(after[1]) },
        limit: query.limit + 1,
      });
      return ok(
        toPage(rows, query.limit, showDelivery, (row) => services.cursors.encode(list, [row.created_at, row.id])),
      );
    },
  }),
  route({
    method: "POST",
    path: `${path}/deliveries/:delivery_id/resend`,
    summary: "Send a delivery again, with the same id",
    errors: ["conflict"],
    responses: { 202: respondsWith("DeliveryReference", "The delivery's id") },
    load: async (call) => {
      const endpoint = await load(call);
      return endpoint && (await findDelivery(call.services.store.read, endpoint.id, call.params.delivery_id!))
        ? endpoint
        : null;
    },
    handle: async ({ services, params }, { resource }) => {
      const delivery = await requeueDelivery(services, resource, params.delivery_id!);
      return { status: 202, body: { delivery_id: delivery.id } };
    },
  }),
];
