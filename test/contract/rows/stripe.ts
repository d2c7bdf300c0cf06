/** Rows of the contract: payments with Stripe, against a local server. */
import { expect } from "bun:test";
import { startStripeWorld } from "../../http/with-stripe";
import * as schemas from "../billing-schemas";
import { conforms } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";

export const stripeRows: DashboardRow[] = [
  [
    "Stripe when OFFCUT_STRIPE_SECRET_KEY is set: Checkout sessions, pack or subscription as the price says",
    async () => {
      await using world = await startStripeWorld();
      const anna = await world.user();
      for (const [priceId, mode] of [
        ["pack-600", "payment"],
        ["studio-monthly", "subscription"],
      ] as const) {
        const { status, body } = await world.checkOut(anna, priceId);
        expect([status, Object.keys(body)]).toEqual([200, ["url"]]);
        expect(world.stripe.account.get(body.url.split("/").at(-1)!).mode).toBe(mode);
      }
      expect((await world.checkOut(anna, "old-pack")).status).toBe(422);
    },
  ],
  [
    "signed inbound events at /api/v1/billing/webhook: 204; idempotent on the provider's event id; another signature 400; a subscription can be ended (an addition)",
    async () => {
      await using world = await startStripeWorld();
      const anna = await world.user();
      const { sessionId } = await world.startCheckout(anna, "studio-monthly");
      const { events } = world.stripe.account.session.complete(sessionId);
      const forged = world.stripe.sign(events[1]!, { secret: "whsec_other" });
      expect((await world.send(forged.body, forged.signature)).status).toBe(400);
      await world.deliver(...events, ...events);
      expect(await world.ledger(anna)).toEqual(["topup 1000"]);
      const subscription = await anna.must("GET", "/api/v1/billing/subscription");
      conforms(schemas.currentSubscription, subscription);
      expect(subscription).toMatchObject({ state: "active", price_id: "studio-monthly" });
      conforms(schemas.offsetPageOf(schemas.invoice), await anna.must("GET", "/api/v1/billing/invoices"));
      const ending = await anna.must("DELETE", "/api/v1/billing/subscription");
      conforms(schemas.currentSubscription, ending);
      expect(ending).toMatchObject({ state: "active", is_ending: true });
    },
  ],
];
