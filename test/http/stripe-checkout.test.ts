/** Checkouts at Stripe, through its library and a local server: the requests, and the state after a failed call. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { DOWN, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET } from "../stripe-server";
import { PATIENCE_MS } from "./harness";
import { type StripeWorld, startStripeWorld } from "./with-stripe";

setDefaultTimeout(PATIENCE_MS);

let world: StripeWorld;
beforeAll(async () => {
  world = await startStripeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const REFUSED = {
  status: 400,
  body: { error: { type: "invalid_request_error", code: "parameter_invalid", message: "No" } },
};

test("the user is sent to Stripe, with the order's ID, and the workspace stays one customer", async () => {
  const { user, startCheckout, stripe, readOrderState, server } = world;
  const anna = await user();
  const [first, second] = [await startCheckout(anna), await startCheckout(anna, "studio-monthly")];
  const [pack, subscription] = [stripe.account.get(first.sessionId), stripe.account.get(second.sessionId)];
  expect(pack).toMatchObject({ mode: "payment", metadata: { order_id: first.orderId, workspace_id: anna.userId } });
  expect(pack.success_url).toBe(`${server.services().publicUrl()}/orders/${first.orderId}`);
  expect(subscription).toMatchObject({ mode: "subscription", customer: pack.customer });
  expect(await readOrderState(anna, first.orderId)).toBe("pending");
});

test("a second user is another customer", async () => {
  const { user, startCheckout, stripe } = world;
  const [anna, bert] = [await user(), await user()];
  const sessions = [await startCheckout(anna), await startCheckout(bert)];
  const customers = sessions.map(({ sessionId }) => stripe.account.get(sessionId).customer);
  expect(new Set(customers).size).toBe(2);
});

const FAILURES: [string, () => void, string][] = [
  ["Stripe is down", () => world.stripe.fail(DOWN, 2), "503 upstream_unavailable"],
  ["Stripe limits the rate", () => world.stripe.fail({ ...DOWN, status: 429 }), "503 upstream_unavailable"],
  ["Stripe refuses", () => world.stripe.fail(REFUSED), "502 upstream_error"],
  ["the key may not do this", () => world.stripe.fail({ ...REFUSED, status: 403 }), "502 upstream_error"],
];
test.each(FAILURES)("%s: no order remains", async (_, fail, outcome) => {
  const { user, checkOut, countOrders } = world;
  const anna = await user();
  const before = await countOrders();
  fail();
  const { status, body, headers } = await checkOut(anna);
  expect(`${status} ${body.code}`).toBe(outcome);
  expect(headers.has("retry-after")).toBe(status === 503);
  expect(await countOrders()).toBe(before);
  expect((await checkOut(anna)).status).toBe(200);
});

test("a request with a lost response is repeated, and the order has one checkout", async () => {
  const { user, checkOut, stripe } = world;
  const anna = await user();
  await checkOut(anna);
  const sessions = () => [...stripe.account.objects.values()].filter(({ object }) => object === "checkout.session");
  const before = sessions().length;
  stripe.fail("late");
  expect((await checkOut(anna)).status).toBe(200);
  expect(sessions().length).toBe(before + 1);
});

test("a customer that was deleted at Stripe is created again", async () => {
  const { user, startCheckout, stripe } = world;
  const anna = await user();
  const { sessionId } = await startCheckout(anna);
  const gone = stripe.account.get(sessionId).customer as string;
  stripe.account.objects.delete(gone);
  const again = await startCheckout(anna);
  expect(stripe.account.get(again.sessionId).customer).not.toBe(gone);
});

test("requests with the same Idempotency-Key, also at once, get one checkout and leave one order", async () => {
  const { user, checkOut, countOrders } = world;
  const anna = await user();
  const before = await countOrders();
  const headers = { "Idempotency-Key": newId() };
  const replies = await Promise.all([1, 2, 3].map(() => checkOut(anna, "pack-600", headers)));
  replies.push(await checkOut(anna, "pack-600", headers));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(replies.map(({ body }) => body.url)).size).toBe(1);
  expect(await countOrders()).toBe(before + 1);
});

test("a workspace has at most 5 pending orders of the last day", async () => {
  const { user, checkOut, countOrders, server } = world;
  const anna = await user();
  const replies = await Promise.all(Array.from({ length: 8 }, () => checkOut(anna)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(replies.filter(({ body }) => body.code === "conflict")).toHaveLength(3);
  const before = await countOrders();
  server.advance(24 * 3600_000 + 1);
  expect((await checkOut(anna)).status).toBe(200);
  expect(await countOrders()).toBe(before + 1);
});

test("a price that differs from Stripe's is 502, and the checkout at Stripe is closed", async () => {
  const { user, checkOut, countOrders, stripe } = world;
  const anna = await user();
  const before = await countOrders();
  const { add } = stripe.account;
  stripe.account.add = (prefix, object, fields) =>
    add(prefix, object, object === "checkout.session" ? { ...fields, amount_subtotal: 1201 } : fields);
  const { status, body } = await checkOut(anna);
  stripe.account.add = add;
  expect([status, body.code, await countOrders()]).toEqual([502, "upstream_error", before]);
  const session = [...stripe.account.objects.values()].findLast(({ object }) => object === "checkout.session")!;
  expect(session.status).toBe("expired");
});

test("a wrong secret key is 502, and no secret is in the log or in an answer", async () => {
  const SECRET = "sk_test_wrong_2323";
  await using wrong = await startStripeWorld({ STRIPE_SECRET_KEY: SECRET });
  const { status, body } = await wrong.checkOut(await wrong.user());
  expect([status, body.code]).toEqual([502, "upstream_error"]);
  for (const secret of [SECRET, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET])
    expect(wrong.server.log.join("\n") + JSON.stringify(body)).not.toContain(secret);
});
