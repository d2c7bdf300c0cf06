/** Pending orders at Stripe: continued and cancelled. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { DOWN } from "../stripe-server";
import type { Client } from "./client";
import { PATIENCE_MS } from "./harness";
import { type StripeWorld, startStripeWorld } from "./with-stripe";

setDefaultTimeout(PATIENCE_MS);

let world: StripeWorld;
beforeAll(async () => {
  world = await startStripeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const act = (as: Client, orderId: string, action: "cancel" | "checkout") =>
  as.call<{ url: string; state: string; code: string }>("POST", `/api/v1/billing/orders/${orderId}/${action}`);

async function order() {
  const anna = await world.user();
  return { anna, ...(await world.startCheckout(anna)) };
}

test("an order is continued at the same checkout, a cancelled one is not", async () => {
  const { anna, orderId, sessionId } = await order();
  const { body } = await act(anna, orderId, "checkout");
  expect(body.url).toBe(world.stripe.account.get(sessionId).url as string);
  expect((await act(anna, orderId, "cancel")).body.state).toBe("expired");
  expect(world.stripe.account.get(sessionId).status).toBe("expired");
  expect((await act(anna, orderId, "checkout")).status).toBe(409);
});

test("an order that was paid is not cancelled, before and after its event", async () => {
  const { anna, orderId, sessionId } = await order();
  const { events } = world.stripe.account.session.complete(sessionId);
  for (const action of ["cancel", "checkout"] as const) expect((await act(anna, orderId, action)).status).toBe(409);
  await world.deliver(...events);
  expect((await act(anna, orderId, "cancel")).body.code).toBe("conflict");
  expect(await world.ledger(anna)).toEqual(["topup 600"]);
});

test("an expired checkout cannot be continued, and its order can be cancelled", async () => {
  const { anna, orderId, sessionId } = await order();
  world.stripe.account.session.expire(sessionId);
  expect((await act(anna, orderId, "checkout")).status).toBe(409);
  expect((await act(anna, orderId, "cancel")).body.state).toBe("expired");
});

test("while Stripe does not respond, the order stays pending", async () => {
  const { anna, orderId } = await order();
  world.stripe.fail(DOWN, 2);
  expect((await act(anna, orderId, "cancel")).body.code).toBe("upstream_unavailable");
  expect(await world.readOrderState(anna, orderId)).toBe("pending");
});

test("cancelled orders do not count as pending ones", async () => {
  const anna = await world.user();
  for (let round = 0; round < 6; round++)
    expect((await act(anna, (await world.startCheckout(anna)).orderId, "cancel")).status).toBe(200);
});

test("an order that is cancelled while its checkout starts cannot be paid", async () => {
  const anna = await world.user();
  const services = world.server.services();
  const payments = services.payments!;
  let checkoutId = "";
  services.payments = {
    ...payments,
    startCheckout: async (request) => {
      const checkout = await payments.startCheckout(request);
      checkoutId = checkout.id;
      expect((await act(anna, request.orderId, "cancel")).body.state).toBe("expired");
      return checkout;
    },
  };
  const { status, body } = await world.checkOut(anna).finally(() => {
    services.payments = payments;
  });
  expect([status, body.code]).toEqual([409, "conflict"]);
  const orders = await anna.must<{ items: { state: string }[] }>("GET", "/api/v1/billing/orders");
  expect(orders.items.map(({ state }) => state)).toEqual(["expired"]);
  expect(world.stripe.account.get(checkoutId).status).toBe("expired");
});
