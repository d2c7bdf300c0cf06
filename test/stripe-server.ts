/**
 * A local server with the calls of Stripe's API that are in use: authentication, idempotency keys, errors, and failures
 * on demand.
 */
import { createHmac } from "node:crypto";
import Stripe from "stripe";
import {
  createStripeAccount,
  STRIPE_PRICES,
  type StripeAccount,
  type StripeEvent,
  type StripeObject,
} from "./stripe-account";

export const STRIPE_SECRET_KEY = "sk_test_local_4242";
export const STRIPE_WEBHOOK_SECRET = "whsec_local_4242";

/** `late`: a proxy times out before Stripe responds, but the call takes effect. */
type Failure = { status: number; body: object } | "late";

export type StripeServer = AsyncDisposable & {
  url: string;
  account: StripeAccount;
  /** The calls so far, as `POST /v1/customers`. */
  calls: string[];
  /** Makes the next `times` calls fail. */
  fail(failure: Failure, times?: number): void;
  /** Returns the body and the signature with which Stripe sends an event. `ageSeconds`: how long ago it was signed. */
  sign(event: StripeEvent, options?: { secret?: string; ageSeconds?: number }): { body: string; signature: string };
};

const DOWN_BODY = { error: { type: "api_error", message: "Stripe is down" } };
export const DOWN = { status: 500, body: DOWN_BODY };

/** The library's own provider for Bun cannot be used by functions that are synchronous. */
const cryptoProvider = {
  computeHMACSignature: (payload: string, secret: string) => createHmac("sha256", secret).update(payload).digest("hex"),
} as Stripe.CryptoProvider;

const json = (body: object, status = 200): Response =>
  Response.json(body, { status, headers: { "Request-Id": "req_local" } });

const refuse = (status: number, error: { type: string; code?: string; param?: string; message: string }): Response =>
  json({ error }, status);

/** Starts the server. `now` returns milliseconds. */
export function startStripeServer(now: () => number = Date.now): StripeServer {
  const account = createStripeAccount(() => Math.floor(now() / 1000));
  const calls: string[] = [];
  const replays = new Map<string, { request: string; status: number; body: string }>();
  const failures: Failure[] = [];
  const library = new Stripe(STRIPE_SECRET_KEY);

  function createSession(form: URLSearchParams): Response {
    const customer = form.get("customer") ?? "";
    if (!account.objects.has(customer))
      return refuse(400, { type: "invalid_request_error", code: "resource_missing", param: "customer", message: "No" });
    const price = STRIPE_PRICES[form.get("line_items[0][price]") ?? ""];
    if (!price)
      return refuse(400, {
        type: "invalid_request_error",
        code: "resource_missing",
        param: "line_items",
        message: "No",
      });
    const session = account.add("cs", "checkout.session", {
      customer,
      mode: form.get("mode"),
      client_reference_id: form.get("client_reference_id"),
      metadata: { order_id: form.get("metadata[order_id]"), workspace_id: form.get("metadata[workspace_id]") },
      success_url: form.get("success_url"),
      status: "open",
      payment_status: "unpaid",
      amount_subtotal: price.unit_amount,
      amount_total: price.unit_amount,
      currency: price.currency,
      invoice: null,
      payment_intent: null,
    });
    return json(Object.assign(session, { url: `https://checkout.stripe.test/${session.id}` }));
  }

  function listInvoicePayments(query: URLSearchParams): Response {
    const payment = account.payments.get(query.get("payment[payment_intent]") ?? "");
    const data = payment ? [{ id: "inpay_1", object: "invoice_payment", invoice: account.get(payment.invoiceId) }] : [];
    return json({ object: "list", data, has_more: false });
  }

  function respond(method: string, path: string, form: URLSearchParams, query: URLSearchParams): Response {
    const [, , kind, ...rest] = path.split("/");
    if (method === "POST" && path === "/v1/customers")
      return json(account.add("cus", "customer", { email: form.get("email") }));
    if (method === "POST" && path === "/v1/checkout/sessions") return createSession(form);
    if (method === "GET" && path.startsWith("/v1/checkout/sessions/")) return json(account.get(rest[1]!));
    if (method === "POST" && rest[2] === "expire") {
      account.session.expire(rest[1]!);
      return json(account.get(rest[1]!));
    }
    if (method === "GET" && path === "/v1/invoice_payments") return listInvoicePayments(query);
    const subscription = kind === "subscriptions" ? account.objects.get(rest[0]!) : undefined;
    if (!subscription) return refuse(404, { type: "invalid_request_error", code: "resource_missing", message: "No" });
    return json(changeSubscription(method, subscription, form));
  }

  function changeSubscription(method: string, subscription: StripeObject, form: URLSearchParams): StripeObject {
    if (method === "DELETE") subscription.status = "canceled";
    else subscription.cancel_at_period_end = form.get("cancel_at_period_end") === "true";
    return subscription;
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const body = await request.text();
      calls.push(`${request.method} ${pathname}`);
      if (request.headers.get("authorization") !== `Bearer ${STRIPE_SECRET_KEY}`)
        return refuse(401, { type: "invalid_request_error", message: `Invalid API key ${STRIPE_SECRET_KEY}` });
      const failure = failures.shift();
      if (failure !== undefined && failure !== "late") return json(failure.body, failure.status);
      const key = request.headers.get("idempotency-key");
      const sent = `${request.method} ${pathname} ${body}`;
      const replay = key === null ? undefined : replays.get(key);
      if (replay && replay.request !== sent)
        return refuse(400, { type: "idempotency_error", message: "Key was used for another request" });
      const response = replay
        ? new Response(replay.body, { status: replay.status, headers: { "Content-Type": "application/json" } })
        : respond(request.method, pathname, new URLSearchParams(body), searchParams);
      if (key !== null && !replay && response.status < 400)
        replays.set(key, { request: sent, status: response.status, body: await response.clone().text() });
      return failure === "late" ? json(DOWN_BODY, 504) : response;
    },
  });

  return {
    url: `http://127.0.0.1:${server.port}`,
    account,
    calls,
    fail: (failure, times = 1) => failures.push(...Array.from({ length: times }, () => failure)),
    sign: (event, { secret = STRIPE_WEBHOOK_SECRET, ageSeconds = 0 } = {}) => {
      const body = JSON.stringify(event);
      const timestamp = Math.floor(now() / 1000) - ageSeconds;
      return {
        body,
        signature: library.webhooks.generateTestHeaderString({ payload: body, secret, timestamp, cryptoProvider }),
      };
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop(true);
    },
  };
}
