/** The life of a subscription at Stripe, made of random steps, as the events that Stripe sends of it. */
import fc from "fast-check";
import { createStripeAccount, type StripeAccount, type StripeEvent, type StripeObject } from "../../../stripe-account";

type LifeStep =
  | { kind: "renew"; outcome: "paid" | "failed" }
  | { kind: "recover" | "prorate" | "cancel" | "delete" }
  | { kind: "refund"; payment: number; cents: number };

export const lifeStep: fc.Arbitrary<LifeStep> = fc.oneof(
  fc.record({ kind: fc.constant("renew" as const), outcome: fc.constantFrom("paid" as const, "failed" as const) }),
  fc.record({ kind: fc.constantFrom("recover" as const, "prorate" as const, "cancel" as const, "delete" as const) }),
  fc.record({
    kind: fc.constant("refund" as const),
    payment: fc.nat({ max: 10 }),
    cents: fc.integer({ min: 1, max: 1900 }),
  }),
);

export type SubscriptionLife = { account: StripeAccount; events: StripeEvent[] };

/**
 * Runs the steps at Stripe, one a day. Those that make no sense, such as to refund more than was paid, are left out.
 */
export function runLife(orderId: string, start: number, steps: LifeStep[]): SubscriptionLife {
  let now = start;
  const account = createStripeAccount(() => now);
  const session = account.add("cs", "checkout.session", {
    customer: account.add("cus", "customer", {}).id,
    mode: "subscription",
    client_reference_id: orderId,
    metadata: { order_id: orderId },
    amount_total: 1900,
  });
  const { events, subscriptionId } = account.session.complete(session.id);
  const id = subscriptionId!;
  let failed: StripeObject | null = null;
  for (const step of steps) {
    now += 24 * 3600;
    if (account.get(id).status === "canceled" && step.kind !== "refund") continue;
    switch (step.kind) {
      case "renew": {
        const renewal = account.subscription.renew(id, step.outcome);
        failed = step.outcome === "failed" ? renewal.invoice : null;
        events.push(...renewal.events);
        break;
      }
      case "recover":
        if (failed) events.push(...account.subscription.recover(id, failed));
        failed = null;
        break;
      case "prorate":
        events.push(account.subscription.prorate(id));
        break;
      case "cancel":
        events.push(account.subscription.cancelAtPeriodEnd(id));
        break;
      case "delete":
        events.push(account.subscription.delete(id));
        break;
      case "refund":
        events.push(...refundSome(account, step));
    }
  }
  return { account, events };
}

function refundSome(account: StripeAccount, step: { payment: number; cents: number }): StripeEvent[] {
  const paid = [...account.payments.keys()];
  const paymentIntentId = paid[step.payment % paid.length]!;
  const { amount, amount_refunded: refunded } = account.get(account.payments.get(paymentIntentId)!.chargeId);
  const rest = (amount as number) - (refunded as number);
  return rest === 0 ? [] : [account.refund(paymentIntentId, Math.min(rest, step.cents))];
}
