/**
 * Events of a payment provider in any order, repeated, and interrupted by power failures always lead to the same state.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import type { PaymentGateway } from "../../../../src/domain/billing";
import { newId } from "../../../../src/lib/ids";
import { silentLog } from "../../../../src/lib/log";
import { toPaymentEvent, toProviderInvoice } from "../../../../src/outbound/stripe-events";
import { readBalance } from "../../../../src/store/credits";
import type { Store } from "../../../../src/store/db";
import { findOrderById, insertOrder } from "../../../../src/store/orders";
import { findSubscription, insertCustomer } from "../../../../src/store/payments";
import { insertUser } from "../../../../src/store/users";
import { applyPaymentEvent, type PaymentEventNeeds } from "../../../../src/work/billing/payment-events";
import { fullOr } from "../../../full-size";
import type { StripeAccount, StripeEvent } from "../../../stripe-account";
import { freshStore, type TestStore } from "../../store/test-store";
import { lifeStep, runLife, type SubscriptionLife } from "./subscription-life";

const START_SECONDS = 1_800_000_000;
const NOW = START_SECONDS * 1000;

let inOrder: TestStore;
let anyOrder: TestStore;
beforeAll(async () => {
  [inOrder, anyOrder] = [await freshStore(), await freshStore()];
});
afterAll(async () => {
  await inOrder[Symbol.asyncDispose]();
  await anyOrder[Symbol.asyncDispose]();
});

const toGateway = (account: StripeAccount): PaymentGateway =>
  ({
    findInvoiceOfPayment: async (id: string) => toProviderInvoice(account.get(account.payments.get(id)!.invoiceId)),
  }) as PaymentGateway;

const deliver = (store: Store, { account }: SubscriptionLife, event: StripeEvent): Promise<void> =>
  applyPaymentEvent(
    {
      store,
      log: silentLog(),
      now: () => NOW,
      confirmedNow: () => NOW,
      payments: toGateway(account),
    } as PaymentEventNeeds,
    toPaymentEvent(structuredClone(event)),
  );

/** Creates a user who has ordered the subscription. */
async function orderIn(store: Store, { userId, orderId }: { userId: string; orderId: string }, customerId: string) {
  await store.write(async (tx) => {
    await insertUser(tx, { id: userId, email: `${userId}@example.test`, created_at: 0 });
    await insertCustomer(tx, { workspace_id: userId, provider_customer_id: customerId, created_at: 0 });
    await insertOrder(tx, {
      id: orderId,
      workspace_id: userId,
      user_id: userId,
      provider: "stripe",
      state: "pending",
      price_id: "studio",
      price_name: "Studio",
      price_kind: "subscription",
      credits: 1000,
      amount: 1900,
      currency: "eur",
      interval: "month",
      created_at: NOW,
    });
  });
}

/** Returns the state of a workspace after events, without IDs and times of this server. */
async function readState(
  { read }: Store,
  { userId, orderId }: { userId: string; orderId: string },
  subscription: string,
) {
  const row = await findSubscription(read, subscription);
  return {
    order: (await findOrderById(read, orderId))!.state,
    balance: await readBalance(read, userId),
    // A later refund that arrives first is one entry; otherwise, there are two.
    ledger: await read.all<object>(sql`SELECT type, payment_invoice_id, sum(delta) AS delta FROM ledger
      WHERE workspace_id = ${userId} GROUP BY type, payment_invoice_id ORDER BY payment_invoice_id, type`),
    invoices:
      await read.all<object>(sql`SELECT payment_invoice_id, state, credits, amount, amount_refunded, url, order_id,
      paid_at IS NOT NULL AS is_paid, subscription_id IS NOT NULL AS has_subscription FROM invoices
      WHERE workspace_id = ${userId} ORDER BY payment_invoice_id`),
    subscription: row && [row.state, row.current_period_end, row.is_ending, row.provider_updated_at, row.ended_at],
  };
}

class PowerCut extends Error {}

/** A store that loses power at its next write: before it is committed, or right after. */
const withPowerCut = (store: Store, when: "before" | "after"): Store => ({
  ...store,
  write: async (work) => {
    if (when === "after") await store.write(work);
    else
      await store
        .write(async (tx) => {
          await work(tx);
          throw new PowerCut();
        })
        .catch(() => {});
    throw new PowerCut();
  },
});

type Disorder = { shuffled: number[]; repeated: number[]; cuts: Map<number, "before" | "after"> };

/** Delivers events as a provider does that gets no answer: it sends them again until it does. */
async function deliverInDisorder(store: Store, life: SubscriptionLife, { shuffled, repeated, cuts }: Disorder) {
  const { events } = life;
  const sorted = events.map((event, i) => ({ event, at: shuffled[i % shuffled.length]! * 31 + i * 7 }));
  const queue = sorted.toSorted((a, b) => (a.at % 101) - (b.at % 101)).map(({ event }) => event);
  for (const index of repeated) queue.splice(index % queue.length, 0, events[index % events.length]!);
  for (let i = 0; i < queue.length; i++) {
    const cut = cuts.get(i);
    const used = cut === undefined ? store : withPowerCut(store, cut);
    try {
      await deliver(used, life, queue[i]!);
    } catch (error) {
      if (!(error instanceof PowerCut)) throw error;
      queue.push(queue[i]!);
    }
  }
}

const disorder = fc.record({
  shuffled: fc.array(fc.nat({ max: 1000 }), { minLength: 20, maxLength: 20 }),
  repeated: fc.array(fc.nat({ max: 40 }), { maxLength: 6 }),
  cuts: fc
    .array(fc.tuple(fc.nat({ max: 12 }), fc.constantFrom("before" as const, "after" as const)), { maxLength: 3 })
    .map((pairs) => new Map(pairs)),
});

test("the events of a subscription in any order, repeated and cut off, end in the state of their own order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(lifeStep, { maxLength: 10 }), disorder, async (steps, how) => {
      const ids = { userId: newId(), orderId: newId() };
      const life = runLife(ids.orderId, START_SECONDS, steps);
      const { account, events } = life;
      const subscriptionId = events[0]!.data.object.id;
      const customerId = account.get(subscriptionId).customer as string;
      for (const { store } of [inOrder, anyOrder]) await orderIn(store, ids, customerId);
      for (const event of events) await deliver(inOrder.store, life, event);
      await deliverInDisorder(anyOrder.store, life, how);
      const expected = await readState(inOrder.store, ids, subscriptionId);
      expect(await readState(anyOrder.store, ids, subscriptionId)).toEqual(expected);
      expectConsistent(expected, account);
    }),
    { numRuns: fullOr(2_000, 40) },
  );
}, 600_000);

/** Checks the invariants after all events against the state at Stripe. */
function expectConsistent(
  { order, balance, subscription }: Awaited<ReturnType<typeof readState>>,
  account: StripeAccount,
) {
  const objects = [...account.objects.values()];
  const periods = objects.filter(
    ({ object, status, billing_reason: reason }) =>
      object === "invoice" && status === "paid" && reason !== "subscription_update",
  );
  const refunded = [...account.payments.values()].map(({ invoiceId, chargeId }) => {
    const isPeriod = periods.some(({ id }) => id === invoiceId);
    const { amount, amount_refunded: cents } = account.get(chargeId);
    return isPeriod ? Math.floor((1000 * (cents as number)) / (amount as number)) : 0;
  });
  expect([order, balance]).toEqual(["paid", 1000 * periods.length - refunded.reduce((sum, one) => sum + one, 0)]);
  const states = { active: "active", past_due: "past_due", canceled: "cancelled" };
  const { status } = objects.find(({ object }) => object === "subscription")!;
  expect(subscription![0] as string).toBe(states[status as keyof typeof states]);
}
