/** Webhook endpoints: registering, changing, rotating the secret, testing, sending again. */
import { AppError } from "../domain/errors";
import { DELIVERY_TIMEOUT_MS, type EventType, OLD_SECRET_VALIDITY_MS } from "../domain/webhooks";
import { newId } from "../lib/ids";
import { parseWebhookUrl, RefusedUrlError, resolveAllowedAddresses } from "../outbound/addresses";
import type { Queries } from "../store/db";
import { countQueuedTests } from "../store/delivery-queue";
import {
  countEndpoints,
  type Delivery,
  findDelivery,
  insertDelivery,
  insertEndpoint,
  updateDelivery,
  updateEndpoint,
  type WebhookEndpoint,
} from "../store/webhooks";
import { createWebhookId } from "./events";
import type { Services } from "./services";

const MAX_ENDPOINTS = 50;
const SECRET_BYTES = 24;
const TEST_EVENT = "webhook.test";
const MAX_QUEUED_TESTS = 10;

const createSecret = (): string =>
  `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64")}`;

/** What the configuration lets webhooks reach. */
export const getAddressRules = (services: Pick<Services, "config">) => ({
  allowLoopback: services.config.webhooksAllowLoopback,
  allowPrivate: services.config.webhooksAllowPrivate,
});

/**
 * Throws `validation_error` on `body.url` unless webhooks may go there now; `rate_limited` or `upstream_unavailable` when too many host names
 * are being looked up.
 */
export async function requireAllowedUrl(
  services: Pick<Services, "config" | "resolverFor">,
  userId: string,
  url: string,
): Promise<void> {
  try {
    await resolveAllowedAddresses(parseWebhookUrl(url), getAddressRules(services), services.resolverFor(userId));
  } catch (error) {
    if (!(error instanceof RefusedUrlError)) throw error;
    throw new AppError("validation_error", "The URL cannot be used for webhooks.", {
      fields: [{ field: "body.url", message: error.message }],
    });
  }
}

/** Registers an endpoint, whose secret is in the answer. Errors: `conflict` when there are too many. */
export async function createEndpoint(
  tx: Queries,
  request: { userId: string; url: string; eventTypes: EventType[]; now: number },
): Promise<WebhookEndpoint> {
  if ((await countEndpoints(tx, request.userId)) >= MAX_ENDPOINTS) {
    throw new AppError("conflict", `There are ${MAX_ENDPOINTS} webhook endpoints already.`);
  }
  return insertEndpoint(tx, {
    id: newId(),
    user_id: request.userId,
    url: request.url,
    event_types: [...new Set(request.eventTypes)],
    state: "enabled",
    secret: createSecret(),
    created_at: request.now,
  });
}

/** Gives the endpoint a new secret; the old one signs on for a day. */
export async function rotateSecret(
  services: Pick<Services, "now" | "store">,
  endpoint: WebhookEndpoint,
): Promise<WebhookEndpoint> {
  const now = services.now();
  const changed = await services.store.write((tx) =>
    updateEndpoint(tx, endpoint.id, {
      secret: createSecret(),
      old_secret: endpoint.secret,
      old_secret_until: now + OLD_SECRET_VALIDITY_MS,
    }),
  );
  if (!changed) throw new AppError("not_found", "There is no such webhook endpoint.");
  return changed;
}

/**
 * Queues a test event for the endpoint, whatever it listens to. Returns the delivery's id. Errors: `conflict` while disabled, `rate_limited`
 * while too many of the user's test events wait.
 */
export async function queueTestEvent(
  services: Pick<Services, "now" | "store">,
  endpoint: WebhookEndpoint,
): Promise<string> {
  requireEnabled(endpoint);
  const now = services.now();
  // Before the write as well: a refusal then costs a read, not a place among the writes.
  await requireRoomForTest(services.store.read, endpoint.user_id, now);
  const eventId = newId();
  const id = createWebhookId(endpoint.id, eventId);
  await services.store.write(async (tx) => {
    await requireRoomForTest(tx, endpoint.user_id, now);
    await insertDelivery(tx, {
      id,
      endpoint_id: endpoint.id,
      user_id: endpoint.user_id,
      event_id: eventId,
      type: TEST_EVENT,
      body: JSON.stringify({ type: TEST_EVENT, data: { entity_id: endpoint.id, asset_id: null } }),
      state: "pending",
      due_at: now,
      created_at: now,
    });
  });
  return id;
}

/** Throws `rate_limited` while the user has as many undelivered test events as may wait. */
async function requireRoomForTest(tx: Queries, userId: string, now: number): Promise<void> {
  const { count, nextDueAt } = await countQueuedTests(tx, userId);
  if (count < MAX_QUEUED_TESTS) return;
  const message = `${MAX_QUEUED_TESTS} test events are not delivered yet. Wait for them, or delete the endpoint that does not take them.`;
  const wait = Math.max((nextDueAt ?? now) - now, DELIVERY_TIMEOUT_MS);
  throw new AppError("rate_limited", message, { retryAfterSeconds: Math.ceil(wait / 1000) });
}

/**
 * Queues a delivery again from the start of the schedule, with the same id. Errors: `not_found`, `conflict` while disabled, `rate_limited` for
 * a test event as in `sendTest`.
 */
export async function requeueDelivery(
  services: Pick<Services, "now" | "store">,
  endpoint: WebhookEndpoint,
  deliveryId: string,
): Promise<Delivery> {
  requireEnabled(endpoint);
  const now = services.now();
  return services.store.write(async (tx) => {
    const delivery = await findDelivery(tx, endpoint.id, deliveryId);
    if (delivery?.type === TEST_EVENT && delivery.state !== "pending")
      await requireRoomForTest(tx, endpoint.user_id, now);
    const again = delivery && (await updateDelivery(tx, delivery.id, { state: "pending", attempts: 0, due_at: now }));
    if (!again) throw new AppError("not_found", "There is no such delivery.");
    return again;
  });
}

function requireEnabled(endpoint: WebhookEndpoint): void {
  if (endpoint.state !== "enabled") throw new AppError("conflict", "The webhook endpoint is disabled.");
}
