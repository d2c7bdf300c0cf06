/**
 * Delivering webhooks. The database says what is due; an attempt is written down when it has ended. A crash in between sends the same
 * message again, with the same id: receivers drop it.
 */
import { afterAttempt, DELIVERY_TIMEOUT_MS, waitAfter } from "../domain/webhooks";
import type { Log } from "../lib/log";
import type { AddressRules, Resolve } from "../outbound/addresses";
import { sendWebhook } from "../outbound/webhook";
import type { Store } from "../store/db";
import {
  type Delivery,
  dueDeliveries,
  type Endpoint,
  findEndpoint,
  nextDeliveryDue,
  updateDelivery,
  updateEndpoint,
} from "../store/webhooks";

export type Deliverer = {
  start(): void;
  /** Something may have become due: looks soon, once for many calls. */
  wake(): void;
  stop(): Promise<void>;
};

export type DelivererOptions = {
  store: Store;
  rules: AddressRules;
  log: Log;
  now(): number;
  /** Resolves host names for a user. */
  resolverFor(userId: string): Resolve;
  timeoutMs?: number;
};

/** At the same time: in all, and to one endpoint, so that one that hangs does not hold up the others. */
const MOST_AT_ONCE = 32;
const MOST_TO_ONE = 4;
const LOOKED_AT = 200;
const LOOK_AGAIN_MS = 30_000;
const SOON_MS = 10;

/** Delivers what is due, until stopped. */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, rules, log, now, resolverFor, timeoutMs = DELIVERY_TIMEOUT_MS } = options;
  const inFlight = new Map<string, { endpointId: string; ended: Promise<void> }>();
  let stopped = true;
  let looking: Promise<void> | null = null;
  let lookAgain = false;
  let timer: Timer | undefined;
  let soon: Timer | null = null;

  async function attempt(delivery: Delivery, endpoint: Endpoint): Promise<void> {
    const at = now();
    const oldSecret = endpoint.old_secret && (endpoint.old_secret_until ?? 0) > at ? [endpoint.old_secret] : [];
    const outcome = await sendWebhook(
      { url: endpoint.url, id: delivery.id, secrets: [endpoint.secret, ...oldSecret], body: delivery.body, timeoutMs },
      rules,
      new Date(at),
      resolverFor(endpoint.user_id),
    );
    const attempts = delivery.attempts + 1;
    const wait = outcome.ok ? null : waitAfter(attempts);
    await store.write(async (tx) => {
      // Read again: others may have succeeded meanwhile, or the user has changed the endpoint.
      const current = await findEndpoint(tx, endpoint.user_id, endpoint.id);
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
      // What another address answered says nothing of this one.
      if (current.url !== endpoint.url) return;
      const record = afterAttempt(
        { lastSuccessAt: current.last_success_at, failingSince: current.failing_since },
        { ok: outcome.ok, gone: outcome.status === 410 },
        now(),
      );
      await updateEndpoint(tx, endpoint.id, {
        last_success_at: record.lastSuccessAt,
        failing_since: record.failingSince,
        ...(record.disable ? { state: "disabled" as const } : {}),
      });
      if (record.disable) log.warn("webhook endpoint disabled", { endpoint: endpoint.id, status: outcome.status });
    });
    log.info("webhook", {
      delivery: delivery.id,
      endpoint: endpoint.id,
      type: delivery.type,
      status: outcome.status,
      attempts,
    });
  }

  /** Whether the endpoint has as many deliveries in flight as it may. */
  const isBusy = (endpointId: string): boolean =>
    [...inFlight.values()].filter((d) => d.endpointId === endpointId).length >= MOST_TO_ONE;

  async function look(): Promise<void> {
    let lookedAt: number;
    do {
      lookAgain = false;
      lookedAt = now();
      const busy = [...new Set([...inFlight.values()].map((d) => d.endpointId))].filter(isBusy);
      const due = await dueDeliveries(store.read, lookedAt, LOOKED_AT, busy);
      for (const { delivery, endpoint } of due) {
        if (stopped || inFlight.size >= MOST_AT_ONCE) break;
        if (inFlight.has(delivery.id) || isBusy(endpoint.id)) continue;
        const ended = attempt(delivery, endpoint)
          .catch((error) => log.error("a delivery could not be written down", { delivery: delivery.id, error }))
          .finally(() => {
            inFlight.delete(delivery.id);
            wake();
          });
        inFlight.set(delivery.id, { endpointId: endpoint.id, ended });
      }
      // More than were looked at: behind those to endpoints that are busy by now may be some for others.
      if (due.length === LOOKED_AT && inFlight.size < MOST_AT_ONCE) lookAgain = true;
    } while (lookAgain && !stopped);
    if (stopped) return;
    // What was due already is in flight or waits for a place, and a place that becomes free wakes.
    const next = await nextDeliveryDue(store.read, lookedAt);
    clearTimeout(timer);
    timer = setTimeout(wake, next === null ? LOOK_AGAIN_MS : Math.min(LOOK_AGAIN_MS, Math.max(0, next - now())));
  }

  function lookNow(): void {
    if (stopped) return;
    lookAgain = true;
    looking ??= look()
      .catch((error) => {
        log.error("cannot look for deliveries", { error });
        timer = setTimeout(wake, 1_000);
      })
      .finally(() => {
        looking = null;
        if (lookAgain) lookNow();
      });
  }

  function wake(): void {
    soon ??= setTimeout(() => {
      soon = null;
      lookNow();
    }, SOON_MS);
  }

  return {
    start: () => {
      stopped = false;
      wake();
    },
    wake,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      if (soon) clearTimeout(soon);
      await looking;
      await Promise.all([...inFlight.values()].map((d) => d.ended));
    },
  };
}
