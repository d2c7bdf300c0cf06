/** Payments with Stripe. This is the only module that knows its API. */
import Stripe from "stripe";
import {
  type CheckoutRequest,
  type CheckoutState,
  CustomerMissingError,
  type PaymentEvent,
  type PaymentGateway,
  type ProviderInvoice,
  type ProviderSubscription,
} from "../domain/billing";
import { AppError } from "../domain/errors";
import type { Log } from "../lib/log";
import { toPaymentEvent, toProviderInvoice, toProviderSubscription } from "./stripe-events";

/** The configured account. `url` null uses Stripe's own address. */
type StripeAccount = { secretKey: string; webhookSecret: string; url: string | null };

/** `now` returns milliseconds since 1970. */
export type GatewayTools = { now: () => number; log: Log };

const TIMEOUT_MS = 15_000;
const MAX_RETRIES = 1;
const RETRY_AFTER_SECONDS = 30;
/** Maximum age of a signature. */
const TOLERANCE_SECONDS = 300;

const DEFAULT_PORTS: Record<string, number> = { "http:": 80, "https:": 443 };

function toAddress(url: string | null): { protocol: "http" | "https"; host: string; port: number } | null {
  if (url === null) return null;
  const { protocol, hostname, port } = new URL(url);
  return {
    protocol: protocol === "http:" ? "http" : "https",
    host: hostname,
    port: port === "" ? DEFAULT_PORTS[protocol]! : Number(port),
  };
}

/** Creates the client of a Stripe account. Nothing is sent until it is used. */
export function createStripePayments(
  { secretKey, webhookSecret, url }: StripeAccount,
  { now, log }: GatewayTools,
): PaymentGateway {
  const stripe = new Stripe(secretKey, {
    ...toAddress(url),
    httpClient: Stripe.createFetchHttpClient(),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: MAX_RETRIES,
    telemetry: false,
  });

  /** Runs a call, and converts its errors to those of the contract. */
  async function call<T>(name: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeError)) throw error;
      // The message may repeat sent data.
      const { type, code, param, statusCode, requestId } = error;
      log.warn("stripe.call_failed", { call: name, type, code, param, status: statusCode, stripe_request: requestId });
      throw toAppError(error);
    }
  }

  return {
    createCustomer: ({ workspaceId, email, replaces }) =>
      call("customers.create", async () => {
        const metadata = { workspace_id: workspaceId };
        const idempotencyKey = `customer-${workspaceId}-${replaces ?? "first"}`;
        return (await stripe.customers.create({ email, metadata }, { idempotencyKey })).id;
      }),
    startCheckout: (request) =>
      call("checkout.sessions.create", async () => {
        const idempotencyKey = `order-${request.orderId}-${request.customerId}`;
        const session = await stripe.checkout.sessions.create(toSessionParameters(request), { idempotencyKey });
        if (session.url === null) throw new AppError("upstream_error", "Stripe returned a checkout without a URL.");
        return { id: session.id, url: session.url, amount: session.amount_subtotal, currency: session.currency };
      }),
    readCheckout: (id) =>
      call("checkout.sessions.retrieve", async (): Promise<CheckoutState> => {
        const { status, url } = await stripe.checkout.sessions.retrieve(id);
        return { id, state: toCheckoutState(status), url };
      }),
    expireCheckout: (id) =>
      call("checkout.sessions.expire", async () => {
        await stripe.checkout.sessions.expire(id);
      }),
    endSubscription: (id, when) =>
      call("subscriptions.cancel", async (): Promise<ProviderSubscription> => {
        const ended =
          when === "now"
            ? await stripe.subscriptions.cancel(id)
            : await stripe.subscriptions.update(id, { cancel_at_period_end: true });
        return toProviderSubscription(ended);
      }),
    findInvoiceOfPayment: (paymentIntentId) =>
      call("invoicePayments.list", async (): Promise<ProviderInvoice | null> => {
        const { data } = await stripe.invoicePayments.list({
          payment: { type: "payment_intent", payment_intent: paymentIntentId },
          expand: ["data.invoice"],
          limit: 1,
        });
        const invoice = data[0]?.invoice;
        return invoice === undefined || typeof invoice === "string" ? null : toProviderInvoice(invoice);
      }),
    readEvent: async (body, signature): Promise<PaymentEvent> => {
      let event: Stripe.Event;
      try {
        event = await stripe.webhooks.constructEventAsync(
          body,
          signature ?? "",
          webhookSecret,
          TOLERANCE_SECONDS,
          Stripe.createSubtleCryptoProvider(),
          now(),
        );
      } catch (error) {
        throw new AppError("bad_request", "Stripe-Signature is missing, invalid or too old.", { cause: error });
      }
      return toPaymentEvent(event);
    },
  };
}

function toCheckoutState(status: Stripe.Checkout.Session.Status | null): CheckoutState["state"] {
  if (status === "open") return "open";
  return status === "complete" ? "complete" : "expired";
}

function toSessionParameters(request: CheckoutRequest): Stripe.Checkout.SessionCreateParams {
  const { orderId, workspaceId, customerId, kind, stripePrice, returnUrl } = request;
  // The order's ID is attached to all later objects, so that no event depends on another one.
  const metadata = { order_id: orderId, workspace_id: workspaceId };
  const common = {
    customer: customerId,
    client_reference_id: orderId,
    metadata,
    line_items: [{ price: stripePrice, quantity: 1 }],
    success_url: returnUrl,
    cancel_url: returnUrl,
  };
  if (kind === "subscription") return { ...common, mode: "subscription", subscription_data: { metadata } };
  return {
    ...common,
    mode: "payment",
    invoice_creation: { enabled: true, invoice_data: { metadata } },
    payment_intent_data: { metadata },
  };
}

/** A wrong key, or a price that does not exist, is a configuration error. All other errors are temporary. */
function toAppError(error: Stripe.errors.StripeError): AppError {
  const { StripeAPIError, StripeConnectionError, StripeRateLimitError } = Stripe.errors;
  const details = { cause: error };
  const isTemporary = [StripeAPIError, StripeConnectionError, StripeRateLimitError].some(
    (kind) => error instanceof kind,
  );
  if (isTemporary) {
    return new AppError("upstream_unavailable", "Stripe does not respond. Try again later.", {
      ...details,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  if (error.code === "resource_missing" && error.param === "customer")
    return new CustomerMissingError("upstream_error", "Customer was deleted at Stripe.", details);
  return new AppError("upstream_error", "Stripe rejected the request. Its reason is in the server log.", details);
}
