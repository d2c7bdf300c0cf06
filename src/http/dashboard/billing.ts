/** Prices, orders, invoices and subscriptions of a workspace, and the inbound events of the payment provider. */
import { MAX_PRICE_ID_CHARACTERS } from "../../domain/billing";
import { notFound } from "../../domain/errors";
import { strictObject, textField } from "../../domain/schema-parts";
import { type Invoice, listInvoices } from "../../store/invoices";
import { findOrder, listOrders, type Order } from "../../store/orders";
import { findCurrentSubscription, type Subscription } from "../../store/payments";
import {
  cancelOrder,
  continueCheckout,
  getActivePrice,
  getOrderUrl,
  orderOffline,
  startProviderCheckout,
} from "../../work/billing/checkout";
import { applyPaymentEvent } from "../../work/billing/payment-events";
import { readBillingMode } from "../../work/billing/prices";
import { cancelSubscription } from "../../work/billing/subscriptions";
import { withIdempotencyKey } from "../../work/idempotency";
import { type Call, createOnce, type OpenCall, ok, type Reply } from "../call";
import { offsetListRoute } from "../list-route";
import { MAX_LARGE_BODY_BYTES, readBodyText } from "../parse-request";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { createOwnLoader, openRoute, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";
import { toCallActor } from "./sign-in-client";

/** `userId` is the user who receives the link. */
export const showOrder = ({ services }: Pick<OpenCall, "services">, order: Order, userId: string): Resource<"Order"> =>
  showRow(SCHEMAS.Order, order, {
    name: order.price_name,
    kind: order.price_kind,
    url: getOrderUrl(services, order, userId),
  });

const showInvoice = (invoice: Invoice): Resource<"Invoice"> => showRow(SCHEMAS.Invoice, invoice, {});

const showSubscription = (subscription: Subscription): Resource<"Subscription"> =>
  showRow(SCHEMAS.Subscription, subscription, {});

const priceSchema = SCHEMAS.PriceList.properties.items.items;

/** Without authentication, because the page of the setup shows it. */
export const readBilling = openRoute({
  summary: "Retrieve whether this server charges credits",
  responses: { 200: respondsWith("Billing", "The mode of billing") },
  handle: async ({ services: { config, store } }) =>
    ok({
      mode: await readBillingMode(config, store.read),
      is_configured: config.billing !== null,
    } satisfies Resource<"Billing">),
});

export const listPrices = route({
  summary: "List the prices that can be ordered",
  responses: { 200: respondsWith("PriceList", "The active prices, in the order of the configuration") },
  handle: async ({ services }) => {
    const isOn = (await readBillingMode(services.config, services.store.read)) === "on";
    const prices = services.config.price.filter(({ active }) => active && isOn);
    const items = prices.map((price) => showRow(priceSchema, price, { price_id: price.id }));
    const provider = services.payments ? "stripe" : "offline";
    return ok({ items, provider } satisfies Resource<"PriceList">);
  },
});

export const checkout = route({
  summary:
    "Order a credit pack or a subscription. Open the URL to pay or, without Stripe, to see whether the order was approved",
  access: { credential: "session" },
  idempotent: true,
  errors: ["conflict", "upstream_error", "upstream_unavailable"],
  example: { price_id: "pack-1000" },
  body: strictObject({ price_id: textField(MAX_PRICE_ID_CHARACTERS) }),
  responses: { 200: respondsWith("Checkout", "The order is pending") },
  handle: async (call, { body }) => {
    const { services, principal } = call;
    const price = await getActivePrice(services, body.price_id);
    const buyer = { user: principal.user, workspaceId: principal.workspace.id };
    const { payments } = services;
    if (payments)
      return checkOutOnce(call, (complete) => startProviderCheckout({ ...services, payments }, buyer, price, complete));
    return createOnce(call, async (tx) => {
      const order = await orderOffline(tx, buyer, price, services.now());
      return ok({ url: getOrderUrl(services, order, buyer.user.id) } satisfies Resource<"Checkout">);
    });
  },
});

/** Runs a checkout at the provider. Returns the reply of a faster simultaneous request with the same key, if any. */
async function checkOutOnce(
  { services, idempotency }: Call,
  start: (complete: Parameters<typeof startProviderCheckout>[3]) => Promise<void>,
): Promise<Reply> {
  let reply: Reply | null = null;
  await start(async (tx, url) => {
    let isFirst = false;
    reply = await withIdempotencyKey(tx, idempotency, services.now(), async () => {
      isFirst = true;
      return { status: 200, body: { url } satisfies Resource<"Checkout">, headers: {} };
    });
    return isFirst;
  });
  if (reply === null) throw new Error("checkout completed without a reply");
  return reply;
}

export const listWorkspaceOrders = offsetListRoute({
  summary: "List the orders of the workspace, newest first",
  item: "Order",
  description: "A page of orders",
  read: ({ services, principal }, { limit, offset }) =>
    listOrders(services.store.read, principal.workspace.id, { limit, offset }),
  show: (call, order) => showOrder(call, order, call.principal.user.id),
});

const load = createOwnLoader("Order", "order_id", findOrder);

export const readOrder = route({
  summary: "Retrieve an order",
  load,
  responses: { 200: respondsWith("Order", "The order") },
  handle: async (call, { resource }) => ok(showOrder(call, resource, call.principal.user.id)),
});

export const resumeOrder = route({
  summary: "Continue the checkout of a pending order. Open the URL to pay",
  load,
  access: { credential: "session" },
  errors: ["conflict", "upstream_error", "upstream_unavailable"],
  responses: { 200: respondsWith("Checkout", "The order is still pending") },
  handle: async ({ services, principal }, { resource }) => {
    const url = await continueCheckout(services, resource, principal.user.id);
    return ok({ url } satisfies Resource<"Checkout">);
  },
});

export const removeOrder = route({
  summary: "Cancel a pending order. It can no longer be paid or approved",
  load,
  access: { credential: "session" },
  errors: ["conflict", "upstream_error", "upstream_unavailable"],
  responses: { 200: respondsWith("Order", "The order, which is `expired`") },
  handle: async (call, { resource }) =>
    ok(showOrder(call, await cancelOrder(call.services, resource), call.principal.user.id)),
});

export const listWorkspaceInvoices = offsetListRoute({
  summary: "List the invoices of the workspace, newest first",
  item: "Invoice",
  description: "A page of invoices",
  read: ({ services, principal }, { limit, offset }) =>
    listInvoices(services.store.read, principal.workspace.id, { limit, offset }),
  show: (_, invoice) => showInvoice(invoice),
});

export const readSubscription = route({
  summary: "Retrieve the subscription of the workspace that has not ended",
  responses: { 200: respondsWith("CurrentSubscription", "The subscription or null") },
  handle: async ({ services, principal }) => {
    const current = await findCurrentSubscription(services.store.read, principal.workspace.id);
    return ok(current && showSubscription(current));
  },
});

export const removeSubscription = route({
  summary: "Cancel the subscription of the workspace. It ends with its paid period",
  access: { credential: "session" },
  errors: ["not_found", "upstream_error", "upstream_unavailable"],
  responses: { 200: respondsWith("Subscription", "The subscription") },
  handle: async (call) =>
    ok(showSubscription(await cancelSubscription(call.services, toCallActor(call), call.principal.workspace.id))),
});

export const receiveEvent = openRoute({
  summary: "Receive a signed event from Stripe. Without Stripe, this path does not exist",
  headers: { "Stripe-Signature": "the signature of the body, at most 300 s old" },
  errors: [
    "bad_request",
    "not_found",
    "payload_too_large",
    "unsupported_media_type",
    "upstream_error",
    "upstream_unavailable",
  ],
  responses: { 204: respondsWithNothing("The event was applied now or before, or is irrelevant") },
  handle: async ({ services, request }) => {
    const { payments, config, log } = services;
    if (!payments) throw notFound("Path");
    // The signature is that of the bytes: the body is parsed once it is verified.
    const timeoutMs = config.requestTimeoutSeconds * 1000;
    const body = await readBodyText(request, { type: "json", maxBytes: MAX_LARGE_BODY_BYTES, timeoutMs });
    const event = await payments.readEvent(body, request.headers.get("stripe-signature"));
    await applyPaymentEvent({ ...services, payments, log }, event);
  },
});
