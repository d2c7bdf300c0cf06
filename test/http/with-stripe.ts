/** A server that takes payments through a local Stripe server. */
import { sql } from "drizzle-orm";
import type { StripeEvent } from "../stripe-account";
import { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, type StripeServer, startStripeServer } from "../stripe-server";
import { startSession } from "./accounts";
import type { Client, Reply } from "./client";
import { type Harness, harness } from "./harness";
import { PRICES } from "./prices";

type Failure = { code: string; detail: string };
type Checkout = { sessionId: string; orderId: string };
type Entry = { type: string; delta: number; payment_invoice_id: string | null };

export type StripeWorld = AsyncDisposable & {
  stripe: StripeServer;
  server: Harness;
  /** Creates a user with a session and 0 credits. */
  user(): Promise<Client & { key: string }>;
  checkOut(as: Client, priceId?: string, headers?: Record<string, string>): Promise<Reply<{ url: string } & Failure>>;
  /** Orders a price. Returns the session at Stripe and the order. */
  startCheckout(as: Client, priceId?: string): Promise<Checkout>;
  /** Sends events in this order. Fails unless each is accepted. */
  deliver(...events: StripeEvent[]): Promise<void>;
  /** Sends a body as Stripe does. */
  send(body: string, signature: string | null): Promise<Reply<Failure>>;
  /** Lists the ledger of a user as `topup 600`, oldest first. */
  ledger(of: Client): Promise<string[]>;
  readOrderState(of: Client, orderId: string): Promise<string>;
  countOrders(): Promise<number>;
};

/** Starts both servers. `configuration` replaces `PRICES`. */
export async function startStripeWorld(settings: Record<string, string> = {}): Promise<StripeWorld> {
  let server: Harness | null = null;
  const stripe = startStripeServer(() => server?.services().now() ?? Date.now());
  const keys = { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_URL: stripe.url, SIGNUP_CREDITS: "0" };
  const started = await harness({ ...keys, ...settings }, { configuration: PRICES });
  server = started;

  const checkOut: StripeWorld["checkOut"] = (as, priceId = "pack-600", headers = {}) =>
    as.call("POST", "/api/v1/billing/checkout", { json: { price_id: priceId }, headers });
  const send: StripeWorld["send"] = (body, signature) =>
    started.nobody.call("POST", "/api/v1/billing/webhook", {
      body,
      headers: {
        "Content-Type": "application/json; charset=utf-8",
        ...(signature === null ? {} : { "Stripe-Signature": signature }),
      },
    });

  return {
    stripe,
    server: started,
    user: async () => startSession(started, await started.user(0)),
    checkOut,
    startCheckout: async (as, priceId) => {
      const { status, body } = await checkOut(as, priceId);
      if (status !== 200) throw new Error(`checkout: ${status} ${body.detail}`);
      const sessionId = body.url.split("/").at(-1)!;
      return { sessionId, orderId: stripe.account.get(sessionId).client_reference_id as string };
    },
    send,
    deliver: async (...events) => {
      for (const event of events) {
        const { body, signature } = stripe.sign(event);
        const reply = await send(body, signature);
        if (reply.status !== 204) throw new Error(`${event.type}: ${reply.status} ${reply.body.detail}`);
      }
    },
    ledger: async (of) => {
      const { items } = await of.must<{ items: Entry[] }>("GET", "/api/v1/credits/history");
      return items.toReversed().map(({ type, delta }) => `${type} ${delta}`);
    },
    readOrderState: async (of, orderId) =>
      (await of.must<{ state: string }>("GET", `/api/v1/billing/orders/${orderId}`)).state,
    countOrders: async () => {
      const rows = await started.services().store.read.all<{ n: number }>(sql`SELECT count(*) AS n FROM orders`);
      return rows[0]!.n;
    },
    [Symbol.asyncDispose]: async () => {
      await started[Symbol.asyncDispose]();
      await stripe[Symbol.asyncDispose]();
    },
  };
}
