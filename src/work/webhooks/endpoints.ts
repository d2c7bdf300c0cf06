/** Webhook endpoints: creation, secret rotation, test events, and requeuing of deliveries. */
import { conflict, invalidField, notFound, requireFound, retryLater } from "../../domain/errors";
import { DELIVERY_TIMEOUT_MS, type EventType, OLD_SECRET_VALIDITY_MS } from "../../domain/webhooks";
import { newId } from "../../lib/ids";
import { parseWebhookUrl, RefusedUrlError, type Resolve, resolveAllowedAddresses } from "../../outbound/addresses";
import type { Queries } from "../../store/db";
import { countQueuedTests } from "../../store/delivery-queue";
import {
  countEndpoints,
  findDelivery,
  insertEndpoint,
  updateDelivery,
  updateEndpoint,
  type WebhookEndpoint,
} from "../../store/webhooks";
import type { CoreNeeds } from "../needs";
import { queueDelivery } from "./events";

export type WebhookNeeds = CoreNeeds & {
  /**
   * Returns a resolver for host names in a workspace's URLs, with limits for the workspace and for all workspaces
   * together.
   */
  resolverFor(workspaceId: string): Resolve;
};

const MAX_ENDPOINTS = 50;
const SECRET_BYTES = 24;
const TEST_EVENT = "webhook.test";
const MAX_QUEUED_TESTS = 10;

const createSecret = (): string =>
  `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64")}`;

/** Returns the addresses that the configuration allows for webhooks. */
export const getAddressRules = (services: CoreNeeds) => ({
  allowLoopback: services.config.webhooksAllowLoopback,
  allowPrivate: services.config.webhooksAllowPrivate,
});

/**
 * Throws `validation_error` on `body.url` when webhooks may not be sent to the URL; `rate_limited` or
 * `upstream_unavailable` when too many host names are being resolved.
 */
export async function requireAllowedUrl(services: WebhookNeeds, workspaceId: string, url: string): Promise<void> {
  try {
    await resolveAllowedAddresses(parseWebhookUrl(url), getAddressRules(services), services.resolverFor(workspaceId));
  } catch (error) {
    if (!(error instanceof RefusedUrlError)) throw error;
    throw invalidField("body.url", error.message, null, "The URL cannot be used for webhooks.");
  }
}

/** Creates an endpoint. Its secret is in the result. Errors: `conflict` when the workspace has too many. */
export async function createEndpoint(
  tx: Queries,
  request: { workspaceId: string; url: string; eventTypes: EventType[]; now: number },
): Promise<WebhookEndpoint> {
  if ((await countEndpoints(tx, request.workspaceId)) >= MAX_ENDPOINTS) {
    throw conflict(`Limit of ${MAX_ENDPOINTS} webhook endpoints reached. Delete one first.`);
  }
  return insertEndpoint(tx, {
    workspace_id: request.workspaceId,
    url: request.url,
    event_types: [...new Set(request.eventTypes)],
    state: "enabled",
    secret: createSecret(),
    created_at: request.now,
  });
}

/** Replaces the secret of the endpoint. For a day, messages are signed with the old one too. */
export async function rotateSecret(services: CoreNeeds, endpoint: WebhookEndpoint): Promise<WebhookEndpoint> {
  const now = services.now();
  return requireFound(
    await services.store.write((tx) =>
      updateEndpoint(tx, endpoint.id, {
        secret: createSecret(),
        old_secret: endpoint.secret,
        old_secret_until: now + OLD_SECRET_VALIDITY_MS,
      }),
    ),
    "Webhook endpoint",
  );
}

/**
 * Queues a test event for the endpoint, whatever events it subscribes to. Returns the ID of the delivery. Errors:
 * `conflict` while the endpoint is disabled, `rate_limited` while too many test events of the workspace are waiting.
 */
export async function queueTestEvent(services: CoreNeeds, endpoint: WebhookEndpoint): Promise<string> {
  requireEnabled(endpoint);
  const now = services.now();
  // Checked before the write as well, so that a refusal costs only a read.
  await requireRoomForTest(services.store.read, endpoint.workspace_id, now);
  const body = JSON.stringify({ type: TEST_EVENT, data: { entity_id: endpoint.id, asset_id: null } });
  return services.store.write(async (tx) => {
    await requireRoomForTest(tx, endpoint.workspace_id, now);
    return queueDelivery(tx, endpoint, { event_id: newId(), type: TEST_EVENT, body }, now);
  });
}

/** Throws `rate_limited` while too many test events of the workspace are waiting. */
async function requireRoomForTest(tx: Queries, workspaceId: string, now: number): Promise<void> {
  const { count, nextDueAt } = await countQueuedTests(tx, workspaceId);
  if (count < MAX_QUEUED_TESTS) return;
  const message = `${MAX_QUEUED_TESTS} test events are waiting for delivery. Wait for them, or delete the endpoint that does not accept them.`;
  const wait = Math.max((nextDueAt ?? now) - now, DELIVERY_TIMEOUT_MS);
  throw retryLater("rate_limited", message, Math.ceil(wait / 1000));
}

/**
 * Queues a delivery again with the same ID, from the start of its retry schedule. Errors: `not_found`; `conflict` while
 * the endpoint is disabled; `rate_limited` for a test event, as in `queueTestEvent`.
 */
export async function requeueDelivery(services: CoreNeeds, endpoint: WebhookEndpoint, deliveryId: string) {
  requireEnabled(endpoint);
  const now = services.now();
  return services.store.write(async (tx) => {
    const delivery = await findDelivery(tx, endpoint.id, deliveryId);
    if (delivery?.type === TEST_EVENT && delivery.state !== "pending")
      await requireRoomForTest(tx, endpoint.workspace_id, now);
    const again = delivery && (await updateDelivery(tx, delivery.id, { state: "pending", attempts: 0, due_at: now }));
    if (!again) throw notFound("Delivery");
    return again;
  });
}

function requireEnabled(endpoint: WebhookEndpoint): void {
  if (endpoint.state !== "enabled") throw conflict("Webhook endpoint is disabled. Enable it first.");
}
