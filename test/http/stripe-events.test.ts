/** Signed events of Stripe over HTTP: their effects and rejections. Their order is in `test/unit/work/billing/`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { PaymentGateway } from "../../src/domain/billing";
import { findUserById } from "../../src/store/users";
import { SERVER_ACTOR } from "../../src/work/access/audit";
import { cancelSubscription } from "../../src/work/billing/subscriptions";
import { purgeAccounts } from "../../src/work/identity/account-purge";
import { DOWN } from "../stripe-server";
import type { Client } from "./client";
import { PATIENCE_MS } from "./harness";
import { type StripeWorld, startStripeWorld } from "./with-stripe";

setDefaultTimeout(PATIENCE_MS);

/** Shorter than a session lasts. */
const PERIOD_MS = 28 * 24 * 3600_000;

let world: StripeWorld;
beforeAll(async () => {
  world = await startStripeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

type Subscription = { state: string; is_ending: boolean; current_period_end: string | null; price_id: string } | null;
type Invoice = { state: string; credits: number; amount: number; amount_refunded: number; payment_invoice_id: string };

const readSubscription = (as: Client) => as.must<Subscription>("GET", "/api/v1/billing/subscription");
const listInvoices = async (as: Client) =>
  (await as.must<{ items: Invoice[] }>("GET", "/api/v1/billing/invoices")).items;
const readBalance = async (as: Client) =>
  (await as.must<{ balance: number }>("GET", "/api/v1/credits/balance")).balance;

async function buyPack() {
  const anna = await world.user();
  const { sessionId, orderId } = await world.startCheckout(anna);
  return { anna, orderId, ...world.stripe.account.session.complete(sessionId) };
}

async function subscribe() {
  const anna = await world.user();
  const { sessionId, orderId } = await world.startCheckout(anna, "studio-monthly");
  const { events, subscriptionId, paymentIntentId } = world.stripe.account.session.complete(sessionId);
  await world.deliver(...events);
  return { anna, orderId, id: subscriptionId!, paymentIntentId };
}

describe("a pack", () => {
  test("is credited once, whichever event comes first and however often", async () => {
    for (const isReversed of [false, true]) {
      const { anna, orderId, events } = await buyPack();
      const order = isReversed ? events.toReversed() : events;
      await world.deliver(...order, ...order);
      expect(await world.ledger(anna)).toEqual(["topup 600"]);
      expect(await world.readOrderState(anna, orderId)).toBe("paid");
      const [invoice, ...others] = await listInvoices(anna);
      expect(others).toEqual([]);
      expect(invoice).toMatchObject({ state: "paid", credits: 600, amount: 1200, amount_refunded: 0 });
      expect(invoice!.payment_invoice_id).toMatch(/^in_/);
    }
  });

  test("the same event at once is applied once", async () => {
    const { anna, events } = await buyPack();
    const { body, signature } = world.stripe.sign(events[0]!);
    const replies = await Promise.all(Array.from({ length: 10 }, () => world.send(body, signature)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([204]));
    expect(await world.ledger(anna)).toEqual(["topup 600"]);
  });

  test("that is paid days later is credited then, or rejected if the payment fails", async () => {
    for (const hasPaid of [true, false]) {
      const anna = await world.user();
      const { sessionId, orderId } = await world.startCheckout(anna);
      const { completed, end } = world.stripe.account.session.completeLater(sessionId);
      await world.deliver(completed);
      expect([await world.ledger(anna), await world.readOrderState(anna, orderId)]).toEqual([[], "pending"]);
      await world.deliver(end(hasPaid), completed);
      expect(await world.ledger(anna)).toEqual(hasPaid ? ["topup 600"] : []);
      expect(await world.readOrderState(anna, orderId)).toBe(hasPaid ? "paid" : "rejected");
    }
  });

  test("whose checkout was left expires", async () => {
    const anna = await world.user();
    const { sessionId, orderId } = await world.startCheckout(anna);
    await world.deliver(world.stripe.account.session.expire(sessionId));
    expect(await world.readOrderState(anna, orderId)).toBe("expired");
  });

  test("gives credits back when it is refunded: a part, another part, the rest, each once", async () => {
    const { anna, events, paymentIntentId } = await buyPack();
    await world.deliver(...events);
    const { refund } = world.stripe.account;
    const refunds = [refund(paymentIntentId, 100), refund(paymentIntentId, 250), refund(paymentIntentId, 850)];
    await world.deliver(refunds[0]!, refunds[0]!);
    expect(await readBalance(anna)).toBe(550);
    await world.deliver(refunds[1]!, refunds[0]!);
    expect(await readBalance(anna)).toBe(425);
    await world.deliver(refunds[2]!, ...refunds.toReversed());
    expect(await world.ledger(anna)).toEqual(["topup 600", "refund -50", "refund -125", "refund -425"]);
    expect((await listInvoices(anna))[0]).toMatchObject({ state: "refunded", amount_refunded: 1200 });
    const history = await anna.must<{ items: Invoice[] }>("GET", "/api/v1/credits/history");
    expect(new Set(history.items.map(({ payment_invoice_id }) => payment_invoice_id)).size).toBe(1);
  });

  test("is refunded although the refund is reported first; while Stripe does not say of what, the event is 503", async () => {
    const { anna, events, paymentIntentId } = await buyPack();
    const refunded = world.stripe.account.refund(paymentIntentId, 600);
    world.stripe.fail(DOWN, 2);
    const { body, signature } = world.stripe.sign(refunded);
    const refused = await world.send(body, signature);
    expect([refused.status, refused.headers.has("retry-after")]).toEqual([503, true]);
    await world.deliver(refunded, ...events);
    expect(await world.ledger(anna)).toEqual(["topup 600", "refund -300"]);
  });
});

describe("a subscription", () => {
  test("is credited with each paid period, and not for a change within one", async () => {
    const { anna, orderId, id } = await subscribe();
    expect(await world.readOrderState(anna, orderId)).toBe("paid");
    expect(await readSubscription(anna)).toMatchObject({ state: "active", price_id: "studio-monthly" });
    world.server.advance(PERIOD_MS);
    await world.deliver(...world.stripe.account.subscription.renew(id, "paid").events);
    await world.deliver(world.stripe.account.subscription.prorate(id));
    expect(await world.ledger(anna)).toEqual(["topup 1000", "topup 1000"]);
    expect((await listInvoices(anna)).map(({ credits }) => credits)).toEqual([0, 1000, 1000]);
  });

  test("whose payment fails is past due, who ordered is notified, and it recovers", async () => {
    const { anna, id } = await subscribe();
    world.server.advance(PERIOD_MS);
    const { events, invoice } = world.stripe.account.subscription.renew(id, "failed");
    await world.deliver(...events, ...events);
    expect(await readSubscription(anna)).toMatchObject({ state: "past_due" });
    expect((await listInvoices(anna))[0]).toMatchObject({ state: "failed", credits: 1000 });
    const { items } = await anna.must<{ items: { type: string; payload: object }[] }>("GET", "/api/v1/notifications");
    expect(items.map(({ type }) => type)).toEqual(["subscription_payment_failed"]);
    expect(items[0]!.payload).toMatchObject({ price_id: "studio-monthly", amount: 1900, currency: "eur" });
    world.server.advance(3600_000);
    await world.deliver(...world.stripe.account.subscription.recover(id, invoice));
    expect(await readSubscription(anna)).toMatchObject({ state: "active" });
    expect(await world.ledger(anna)).toEqual(["topup 1000", "topup 1000"]);
  });

  test("of which a period is refunded gives back the credits of that period", async () => {
    const { anna, paymentIntentId } = await subscribe();
    await world.deliver(world.stripe.account.refund(paymentIntentId, 1900));
    expect(await world.ledger(anna)).toEqual(["topup 1000", "refund -1000"]);
  });

  test("ends with its period when it is cancelled here, and at once when it is deleted at Stripe", async () => {
    const { anna, id } = await subscribe();
    const cancel = () => anna.call<Subscription>("DELETE", "/api/v1/billing/subscription");
    world.stripe.fail(DOWN, 2);
    expect((await cancel()).status).toBe(503);
    expect(await readSubscription(anna)).toMatchObject({ is_ending: false });
    for (const _ of ["first", "again"])
      expect((await cancel()).body).toMatchObject({ state: "active", is_ending: true });
    expect(world.stripe.account.get(id).cancel_at_period_end).toBe(true);
    await world.deliver(world.stripe.account.subscription.delete(id));
    expect(await readSubscription(anna)).toBeNull();
    expect((await cancel()).status).toBe(404);
  });

  test("stays ended when its end is reported while it is cancelled here", async () => {
    const { anna, id } = await subscribe();
    const services = world.server.services();
    const payments: PaymentGateway = {
      ...services.payments!,
      endSubscription: async (...of) => {
        const answer = await services.payments!.endSubscription(...of);
        await world.deliver(world.stripe.account.subscription.delete(id));
        return answer;
      },
    };
    const ended = await cancelSubscription({ ...services, payments }, SERVER_ACTOR, anna.userId);
    expect(ended.state).toBe("cancelled");
    expect(await readSubscription(anna)).toBeNull();
  });

  test("is the only one of its workspace", async () => {
    const { anna, id } = await subscribe();
    expect((await world.checkOut(anna, "studio-monthly")).status).toBe(409);
    await world.deliver(world.stripe.account.subscription.delete(id));
    expect((await world.checkOut(anna, "studio-monthly")).status).toBe(200);
  });

  test("that renews keeps its account from being deleted, until it is cancelled", async () => {
    const { anna } = await subscribe();
    const remove = async () => (await anna.call("DELETE", "/api/v1/users/me")).status;
    expect(await remove()).toBe(409);
    await anna.must("DELETE", "/api/v1/billing/subscription");
    expect(await remove()).toBe(204);
  });
});

describe("refused", () => {
  const rows: [string, (event: string) => { body: string; signature: string | null }][] = [
    ["no signature", (body) => ({ body, signature: null })],
    ["a signature that is none", (body) => ({ body, signature: "x" })],
    ["the signature of another body", (body) => ({ body: `${body} `, signature: signBody(body) })],
    ["another secret", (body) => ({ body, signature: signBody(body, { secret: "whsec_forged" }) })],
    ["an old signature", (body) => ({ body, signature: signBody(body, { ageSeconds: 301 }) })],
  ];
  const signBody = (body: string, options: Parameters<StripeWorld["stripe"]["sign"]>[1] = {}) =>
    world.stripe.sign(JSON.parse(body), options).signature;

  test.each(rows)("%s is 400 and changes nothing", async (_, forge) => {
    const { anna, events } = await buyPack();
    const { body, signature } = forge(JSON.stringify(events[0]));
    const reply = await world.send(body, signature);
    expect([reply.status, reply.body.code]).toEqual([400, "bad_request"]);
    expect(await world.ledger(anna)).toEqual([]);
  });

  test("a body above 1 MiB is 413, another type 415", async () => {
    expect((await world.send("x".repeat(1024 * 1024 + 1), "t=1,v1=00")).status).toBe(413);
    const form = { body: "a=b", headers: { "Content-Type": "application/x-www-form-urlencoded" } };
    expect((await world.server.nobody.call("POST", "/api/v1/billing/webhook", form)).status).toBe(415);
  });
});

describe("accepted without an effect", () => {
  const charge = { id: "ch_1", object: "charge", customer: "cus_other", payment_intent: "pi_1", amount_refunded: 5 };
  const rows: [string, string, object][] = [
    ["an unknown type", "terminal.reader.action_failed", { id: "tmr_1" }],
    ["a checkout of another program", "checkout.session.completed", { id: "cs_x", mode: "payment", metadata: {} }],
    ["an unknown order", "checkout.session.completed", { id: "cs_x", client_reference_id: "018f-unknown" }],
    ["an invoice of another customer", "invoice.paid", { id: "in_x", customer: "cus_other", status: "paid" }],
    ["a subscription of another customer", "customer.subscription.updated", { id: "sub_x", status: "active" }],
    ["a refund of an unknown customer", "charge.refunded", charge],
    ["an object without an ID", "invoice.paid", {}],
  ];
  test.each(rows)("%s is 204, and Stripe is not asked", async (_, type, object) => {
    const { stripe } = world;
    const calls = stripe.calls.length;
    await world.deliver(stripe.account.emit(type, object as never));
    expect(stripe.calls.length).toBe(calls);
    const rows = await world.server.services().store.read.all(sql`SELECT id FROM payment_events WHERE type = ${type}
      AND id = (SELECT max(id) FROM payment_events) AND received_at > ${world.server.services().now()}`);
    expect(rows).toEqual([]);
    expect(world.server.errors).toEqual([]);
  });

  test("JSON that is no event is 204", async () => {
    for (const value of [null, 5, "x", [], { id: 1, data: { object: null } }]) {
      const { body, signature } = world.stripe.sign(value as never);
      expect((await world.send(body, signature)).status).toBe(204);
    }
  });
});

describe("a deleted workspace", () => {
  test("gets no credits, and its subscription is ended at Stripe", async () => {
    const { user, stripe, deliver, server } = world;
    const anna = await user();
    const workspace = await anna.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
    const headers = { "Offcut-Workspace": workspace.id };
    const sessionIds: string[] = [];
    for (const price of ["pack-600", "studio-monthly"])
      sessionIds.push((await world.checkOut(anna, price, headers)).body.url.split("/").at(-1)!);
    await anna.must("DELETE", `/api/v1/workspaces/${workspace.id}`);
    const [pack, subscription] = sessionIds.map((id) => stripe.account.session.complete(id));
    await deliver(...pack!.events);
    stripe.fail(DOWN, 2);
    const { body, signature } = stripe.sign(subscription!.events[0]!);
    expect((await world.send(body, signature)).status).toBe(503);
    await deliver(...subscription!.events);
    expect(stripe.account.get(subscription!.subscriptionId!).status).toBe("canceled");
    const rows = await server
      .services()
      .store.read.all(
        sql`SELECT id FROM ledger WHERE workspace_id = ${workspace.id} UNION ALL SELECT id FROM invoices WHERE workspace_id = ${workspace.id}`,
      );
    expect(rows).toEqual([]);
  });

  test("that is purged with its account ends a subscription that was paid for meanwhile, or stays", async () => {
    const anna = await world.user();
    const { sessionId } = await world.startCheckout(anna, "studio-monthly");
    await anna.must("DELETE", "/api/v1/users/me");
    const { events, subscriptionId } = world.stripe.account.session.complete(sessionId);
    await world.deliver(...events);
    world.server.advance(31 * 24 * 3600_000);
    const services = world.server.services();
    const exists = async () => (await findUserById(services.store.read, anna.userId)) !== null;
    const purge = () => purgeAccounts(services, new AbortController().signal);
    world.stripe.fail(DOWN, 2);
    await purge();
    expect([await exists(), world.stripe.account.get(subscriptionId!).status]).toEqual([true, "active"]);
    await purge();
    expect([await exists(), world.stripe.account.get(subscriptionId!).status]).toEqual([false, "canceled"]);
    const orders = await services.store.read.all<object>(
      sql`SELECT state FROM orders WHERE provider_checkout_id = ${sessionId} AND user_id IS NULL AND workspace_id <> ${anna.userId}`,
    );
    expect(orders).toEqual([{ state: "paid" }]);
    world.server.errors.length = 0;
  });

  test("is not deleted while its subscription renews", async () => {
    const anna = await world.user();
    const workspace = await anna.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
    const headers = { "Offcut-Workspace": workspace.id };
    const { url } = (await world.checkOut(anna, "studio-monthly", headers)).body;
    await world.deliver(...world.stripe.account.session.complete(url.split("/").at(-1)!).events);
    const remove = async () => (await anna.call("DELETE", `/api/v1/workspaces/${workspace.id}`)).status;
    expect(await remove()).toBe(409);
    await anna.must("DELETE", "/api/v1/billing/subscription", { headers });
    expect(await remove()).toBe(204);
  });
});
