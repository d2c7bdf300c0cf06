/** Stripe's objects in the shapes of several API versions. */
import { expect, test } from "bun:test";
import { toPaymentEvent, toProviderInvoice, toProviderSubscription } from "../../../src/outbound/stripe-events";

const metadata = { order_id: "o" };

const INVOICES: [string, object][] = [
  [
    "2025-03-31 and later",
    { parent: { type: "subscription_details", subscription_details: { subscription: "sub_1", metadata } } },
  ],
  ["with an expanded subscription", { parent: { subscription_details: { subscription: { id: "sub_1" }, metadata } } }],
  ["before", { subscription: "sub_1", subscription_details: { metadata } }],
];
test.each(INVOICES)("the invoice of a subscription: %s", (_, fields) => {
  const invoice = { id: "in_1", status: "paid", amount_paid: 5, billing_reason: "subscription_cycle", ...fields };
  expect(toProviderInvoice(invoice)).toMatchObject({
    paymentInvoiceId: "in_1",
    orderId: "o",
    providerSubscriptionId: "sub_1",
    isPaid: true,
    grantsCredits: true,
    amount: 5,
  });
});

test.each([
  ["of the items", { items: { data: [{ current_period_end: 7 }] } }],
  ["of the subscription", { current_period_end: 7 }],
])("the period %s", (_, fields) => {
  expect(toProviderSubscription({ id: "sub_1", status: "active", ...fields }).currentPeriodEnd).toBe(7000);
});

test.each([
  ["incomplete", "incomplete"],
  ["incomplete_expired", "cancelled"],
  ["trialing", "active"],
  ["active", "active"],
  ["past_due", "past_due"],
  ["unpaid", "past_due"],
  ["paused", "past_due"],
  ["canceled", "cancelled"],
  ["a state of the future", "incomplete"],
])("the state %s is %s", (status, state) => {
  expect(toProviderSubscription({ id: "sub_1", status }).state as string).toBe(state);
});

test.each([{ cancel_at_period_end: true }, { cancel_at: 9 }])("%j ends with its period", (fields) => {
  expect(toProviderSubscription({ id: "sub_1", status: "active", ...fields }).isEnding).toBe(true);
});

test("a link that is not a web address is not shown", () => {
  for (const url of ["javascript:alert(1)", 5, `https://x.example/${"x".repeat(3000)}`])
    expect(toProviderInvoice({ id: "in_1", hosted_invoice_url: url }).url).toBeNull();
});

test("anything that is not an event is ignored", () => {
  for (const value of [
    null,
    1,
    "x",
    [],
    {},
    { id: "e" },
    { id: "e", data: null },
    { id: "e", type: "constructor", data: { object: { id: "x" } } },
  ])
    expect(toPaymentEvent(value).kind).toBe("other");
});
