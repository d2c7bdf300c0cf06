/** Subscriptions at the payment provider: their state, and their end. */
import { isNewerSubscription, type ProviderSubscription } from "../../domain/billing";
import { conflict, requireFound, retryLater } from "../../domain/errors";
import type { Queries } from "../../store/db";
import type { Order } from "../../store/orders";
import {
  findCurrentSubscription,
  findSubscription,
  insertSubscription,
  listRenewingSubscriptions,
  type Subscription,
  updateSubscription,
} from "../../store/payments";
import { type AuditActor, recordAudit } from "../access/audit";
import type { BillingNeeds } from "./needs";

/**
 * Stores the state of a subscription, unless a newer one is stored. `updatedAt`: the provider's time; null for a state
 * that only follows from an invoice.
 */
export async function recordSubscription(
  tx: Queries,
  order: Order,
  reported: ProviderSubscription & { updatedAt: number | null },
  now: number,
): Promise<Subscription> {
  const { providerSubscriptionId, state, currentPeriodEnd, isEnding, updatedAt } = reported;
  const current = {
    state,
    current_period_end: currentPeriodEnd,
    is_ending: isEnding,
    provider_updated_at: updatedAt,
    ended_at: state === "cancelled" ? (updatedAt ?? now) : null,
  };
  const known = await findSubscription(tx, providerSubscriptionId);
  if (!known) {
    return insertSubscription(tx, {
      ...current,
      workspace_id: order.workspace_id,
      user_id: order.user_id,
      provider: "stripe",
      provider_subscription_id: providerSubscriptionId,
      price_id: order.price_id,
      created_at: now,
    });
  }
  const stored = {
    state: known.state,
    currentPeriodEnd: known.current_period_end,
    isEnding: known.is_ending,
    updatedAt: known.provider_updated_at,
  };
  return isNewerSubscription(reported, stored) ? updateSubscription(tx, known.id, current) : known;
}

/**
 * Ends the subscription of a workspace after its paid period. Returns it. Throws `AppError` `not_found` without a
 * subscription, `upstream_unavailable`, `upstream_error`.
 */
export async function cancelSubscription(
  { store, now, payments }: BillingNeeds,
  actor: AuditActor,
  workspaceId: string,
): Promise<Subscription> {
  const subscription = requireFound(await findCurrentSubscription(store.read, workspaceId), "Subscription");
  if (subscription.is_ending) return subscription;
  if (!payments) throw retryLater("upstream_unavailable", "Stripe is not configured.", 3600);
  const ended = await payments.endSubscription(subscription.provider_subscription_id, "period_end");
  return store.write(async (tx) => {
    await recordAudit(tx, actor, { action: "subscription.cancelled", target: subscription.id, workspaceId }, now());
    const current = await findSubscription(tx, subscription.provider_subscription_id);
    // It ended during the call, as an event reported: no later event would correct this response.
    if (current?.state === "cancelled") return current;
    // The next event has the provider's time, and must be able to replace this response.
    return updateSubscription(tx, subscription.id, {
      state: ended.state,
      is_ending: ended.isEnding,
      current_period_end: ended.currentPeriodEnd ?? subscription.current_period_end,
    });
  });
}

/** Throws `AppError` `conflict` if the workspace's subscription renews: it would be charged without a user. */
export async function requireNoRenewal(tx: Queries, workspaceId: string): Promise<void> {
  if ((await listRenewingSubscriptions(tx, workspaceId)).length > 0) {
    throw conflict(
      "Workspace has a subscription that renews. Cancel it first with DELETE /api/v1/billing/subscription.",
    );
  }
}

/** Ends the subscriptions of a workspace that is about to be deleted. Errors: those of the provider's calls. */
export async function endSubscriptions({ store, payments, log }: BillingNeeds, workspaceId: string): Promise<void> {
  for (const { provider_subscription_id: id } of await listRenewingSubscriptions(store.read, workspaceId)) {
    if (payments) await payments.endSubscription(id, "now");
    else log.warn("subscription.not_ended", { subscription: id, reason: "Stripe is not configured" });
  }
}
