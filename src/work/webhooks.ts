/** Webhook endpoints: registering, changing, rotating the secret, testing, sending again. */
import { AppError } from "../domain/errors";
import { OLD_SECRET_MS } from "../domain/webhooks";
import { newId } from "../lib/ids";
import { checkedAddresses, parseWebhookUrl, RefusedUrl } from "../outbound/addresses";
import type { Queries } from "../store/db";
import {
  countEndpoints,
  type Delivery,
  type Endpoint,
  findDelivery,
  insertDelivery,
  insertEndpoint,
  updateDelivery,
  updateEndpoint,
} from "../store/webhooks";
import { webhookId } from "./notify";
import type { Services } from "./services";

const MOST_ENDPOINTS = 50;
const SECRET_BYTES = 24;

const newSecret = (): string =>
  `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64")}`;

/** What the configuration lets webhooks reach. */
export const webhookRules = (services: Pick<Services, "config">) => ({
  allowLoopback: services.config.webhooksAllowLoopback,
  allowPrivate: services.config.webhooksAllowPrivate,
});

/**
 * Throws `validation_error` on `body.url` unless webhooks may go there now; `rate_limited` or `upstream_unavailable` when too many host names
 * are being looked up.
 */
export async function requireReachable(services: Services, userId: string, url: string): Promise<void> {
  try {
    await checkedAddresses(parseWebhookUrl(url), webhookRules(services), services.resolverFor(userId));
  } catch (error) {
    if (!(error instanceof RefusedUrl)) throw error;
    throw new AppError("validation_error", "The URL cannot be used for webhooks.", {
      fields: [{ field: "body.url", message: error.message }],
    });
  }
}

/** Registers an endpoint, whose secret is in the answer. Errors: `conflict` when there are too many. */
export async function registerEndpoint(
  tx: Queries,
  request: { userId: string; url: string; eventTypes: string[]; now: number },
): Promise<Endpoint> {
  if ((await countEndpoints(tx, request.userId)) >= MOST_ENDPOINTS) {
    throw new AppError("conflict", `There are ${MOST_ENDPOINTS} webhook endpoints already.`);
  }
  return insertEndpoint(tx, {
    id: newId(),
    user_id: request.userId,
    url: request.url,
    event_types: [...new Set(request.eventTypes)],
    state: "enabled",
    secret: newSecret(),
    created_at: request.now,
  });
}

/** Gives the endpoint a new secret; the old one signs on for a day. */
export async function rotateSecret(services: Services, endpoint: Endpoint): Promise<Endpoint> {
  const now = services.now();
  const changed = await services.store.write((tx) =>
    updateEndpoint(tx, endpoint.id, {
      secret: newSecret(),
      old_secret: endpoint.secret,
      old_secret_until: now + OLD_SECRET_MS,
    }),
  );
  if (!changed) throw new AppError("not_found", "There is no such webhook endpoint.");
  return changed;
}

/** Sends a test event to the endpoint, whatever it listens to. Gives the delivery's id. Errors: `conflict` while disabled. */
export async function sendTest(services: Services, endpoint: Endpoint): Promise<string> {
  requireEnabled(endpoint);
  const now = services.now();
  const eventId = newId();
  const id = webhookId(endpoint.id, eventId);
  const type = "webhook.test";
  await services.store.write((tx) =>
    insertDelivery(tx, {
      id,
      endpoint_id: endpoint.id,
      user_id: endpoint.user_id,
      event_id: eventId,
      type,
      body: JSON.stringify({ type, data: { entity_id: endpoint.id, asset_id: null } }),
      state: "pending",
      due_at: now,
      created_at: now,
    }),
  );
  return id;
}

/** Sends a delivery again from the start of the schedule, with the same id. Errors: `not_found`, `conflict` while disabled. */
export async function resend(services: Services, endpoint: Endpoint, deliveryId: string): Promise<Delivery> {
  requireEnabled(endpoint);
  return services.store.write(async (tx) => {
    const delivery = await findDelivery(tx, endpoint.id, deliveryId);
    const again =
      delivery && (await updateDelivery(tx, delivery.id, { state: "pending", attempts: 0, due_at: services.now() }));
    if (!again) throw new AppError("not_found", "There is no such delivery.");
    return again;
  });
}

function requireEnabled(endpoint: Endpoint): void {
  if (endpoint.state !== "enabled") throw new AppError("conflict", "The webhook endpoint is disabled.");
}
