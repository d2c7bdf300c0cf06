/**
 * Delivers webhooks that are due according to the database. An attempt is recorded when it has ended; after a crash in
 * between, the message is sent again with the same ID, and receivers ignore the duplicate.
 */
import { DELIVERY_TIMEOUT_MS, findDeliveryDelayMs, updateEndpointHealth } from "../../domain/webhooks";
import type { Log } from "../../lib/log";
import { createPoller } from "../../lib/poller";
import { sleep } from "../../lib/sleep";
import type { AddressRules, Resolve } from "../../outbound/addresses";
import { sendWebhook } from "../../outbound/webhook";
import type { Store } from "../../store/db";
import {
  type DueDelivery,
  findNextDeliveryTime,
  findPendingDelivery,
  listDueDeliveries,
  listWorkspacesWithDueDeliveries,
} from "../../store/delivery-queue";
import {
  type Delivery,
  findEndpoint,
  updateDelivery,
  updateEndpoint,
  type WebhookEndpoint,
} from "../../store/webhooks";
import { notifyOwners } from "../notifications/notifications";
import { createDeliverySlots, MAX_PER_ENDPOINT } from "./delivery-slots";

export type DelivererOptions = {
  store: Store;
  rules: AddressRules;
  log: Log;
  now(): number;
  resolverFor(workspaceId: string): Resolve;
  timeoutMs?: number;
};

/** Enough to fill the slots of an endpoint, although deliveries in flight are still due. */
const MAX_DUE_PER_ENDPOINT = 2 * MAX_PER_ENDPOINT;
/** Pause of the slot when the result of an attempt could not be stored. */
const RECORD_FAILED_PAUSE_MS = 5_000;

export function createDeliverer(options: DelivererOptions) {
  const { store, rules, log, now, resolverFor, timeoutMs = DELIVERY_TIMEOUT_MS } = options;
  const inFlight = new Set<Promise<void>>();
  const slots = createDeliverySlots();
  const poller = createPoller(poll, (error) => log.error("webhook.poll_failed", { error }));

  async function attempt(delivery: Delivery, endpoint: WebhookEndpoint): Promise<void> {
    const at = now();
    const oldSecret = endpoint.old_secret && (endpoint.old_secret_until ?? 0) > at ? [endpoint.old_secret] : [];
    const outcome = await sendWebhook(
      { url: endpoint.url, id: delivery.id, secrets: [endpoint.secret, ...oldSecret], body: delivery.body, timeoutMs },
      rules,
      new Date(at),
      resolverFor(endpoint.workspace_id),
    );
    const attempts = delivery.attempts + 1;
    const wait = outcome.ok ? null : findDeliveryDelayMs(attempts);
    await store.write(async (tx) => {
      // Read again: another delivery may have succeeded in the meantime, or the user has changed the endpoint.
      const current = await findEndpoint(tx, endpoint.workspace_id, endpoint.id);
      if (!current) return;
      await updateDelivery(tx, delivery.id, {
        state: outcome.ok ? "delivered" : wait === null ? "failed" : "pending",
        attempts,
        due_at: wait === null ? null : now() + wait,
        last_attempt_at: at,
        last_status: outcome.status,
        last_error: outcome.error,
        last_milliseconds: outcome.milliseconds,
      });
      // The result of another URL says nothing about the current one.
      if (current.url !== endpoint.url) return;
      const record = updateEndpointHealth(
        { lastSuccessAt: current.last_success_at, failingSince: current.failing_since },
        { ok: outcome.ok, isGone: outcome.status === 410 },
        now(),
      );
      const reason = outcome.status === 410 ? "gone" : "failing";
      // Another delivery in flight may have disabled it already.
      const isDisabledNow = record.disable && current.state === "enabled";
      await updateEndpoint(tx, endpoint.id, {
        last_success_at: record.lastSuccessAt,
        failing_since: record.failingSince,
        state: isDisabledNow ? "disabled" : current.state,
        disabled_at: isDisabledNow ? now() : current.disabled_at,
        disabled_reason: isDisabledNow ? reason : current.disabled_reason,
      });
      if (!isDisabledNow) return;
      log.warn("webhook_endpoint.disabled", { endpoint: endpoint.id, status: outcome.status });
      await notifyOwners(tx, endpoint.workspace_id, {
        type: "webhook_disabled",
        payload: {
          endpoint_id: endpoint.id,
          host: new URL(endpoint.url).host,
          reason,
          failing_since: record.failingSince === null ? null : new Date(record.failingSince).toISOString(),
        },
        // The endpoint alone is not enough: it can be enabled and disabled again.
        cause: `${delivery.id}/${attempts}/${at}`,
        now: now(),
      });
    });
    log.info("webhook.attempted", {
      delivery: delivery.id,
      endpoint: endpoint.id,
      type: delivery.type,
      status: outcome.status,
      attempts,
    });
  }

  /** Starts due deliveries while slots are free, one at a time for the workspace whose turn it is. */
  async function startDue(at: number): Promise<void> {
    const waiting = new Map<string, DueDelivery[] | null>();
    for (const workspaceId of await listWorkspacesWithDueDeliveries(store.read, at)) {
      if (slots.hasRoom(workspaceId)) waiting.set(workspaceId, null);
    }
    while (waiting.size > 0 && !poller.isStopped) {
      const workspaceId = slots.nextWorkspace(waiting.keys());
      if (workspaceId === null) return;
      const due =
        waiting.get(workspaceId) ?? (await listDueDeliveries(store.read, workspaceId, at, MAX_DUE_PER_ENDPOINT));
      const next = slots.nextDelivery(workspaceId, due);
      if (next === null) {
        waiting.delete(workspaceId);
        continue;
      }
      waiting.set(
        workspaceId,
        due.filter((one) => one !== next),
      );
      const found = await findPendingDelivery(store.read, next.id);
      // An attempt in flight when the list was read may have failed in the meantime, and waits for its retry.
      if (!found || (found.delivery.due_at ?? 0) > at || poller.isStopped) continue;
      const release = slots.acquire(workspaceId, next);
      const ended = attempt(found.delivery, found.endpoint)
        .catch((error) => {
          log.error("webhook.record_failed", { delivery: next.id, error });
          // The delivery is still due. Without a pause it would be sent again and again while the database cannot be
          // written.
          return sleep(RECORD_FAILED_PAUSE_MS, poller.signal).catch(() => {});
        })
        .finally(() => {
          release();
          inFlight.delete(ended);
          poller.wake();
        });
      inFlight.add(ended);
    }
  }

  async function poll(): Promise<number | null> {
    const lookedAt = now();
    await startDue(lookedAt);
    if (poller.isStopped) return null;
    // Due deliveries are in flight or wait for a slot, and a released slot wakes the deliverer.
    const next = await findNextDeliveryTime(store.read, lookedAt);
    return next === null ? null : next - now();
  }

  return {
    start: poller.start,
    /** Polls soon, once for several calls. */
    wake: poller.wake,
    stop: async () => {
      await poller.stop();
      await Promise.all(inFlight);
    },
  };
}
