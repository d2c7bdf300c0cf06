/**
 * The objects of a Stripe account for tests, and the events that Stripe sends of them. Amounts are in cents, times in
 * seconds.
 */

export type StripeObject = { id: string; object: string; [field: string]: unknown };
export type StripeEvent = {
  id: string;
  object: "event";
  type: string;
  created: number;
  data: { object: StripeObject };
};

/** The prices that exist at Stripe, by their IDs. */
export const STRIPE_PRICES: Record<string, { unit_amount: number; currency: string }> = {
  price_pack600: { unit_amount: 1200, currency: "eur" },
  price_studio: { unit_amount: 1900, currency: "eur" },
};

export type StripeAccount = ReturnType<typeof createStripeAccount>;

const PERIOD_SECONDS = 30 * 24 * 3600;

/** Creates an account. `seconds` returns its time. */
export function createStripeAccount(seconds: () => number) {
  const objects = new Map<string, StripeObject>();
  /** The payment intent that paid an invoice. */
  const payments = new Map<string, { invoiceId: string; chargeId: string }>();
  // Accounts share no IDs.
  const tag = crypto.randomUUID().slice(0, 8);
  let count = 0;
  const nextId = (prefix: string) => `${prefix}_${tag}${(++count).toString().padStart(6, "0")}`;

  function add<T extends Record<string, unknown>>(prefix: string, object: string, fields: T): StripeObject & T {
    const added = { id: nextId(prefix), object, created: seconds(), ...fields };
    objects.set(added.id, added);
    return added;
  }

  /** Returns an event with the object as it is now. */
  const emit = (type: string, object: StripeObject): StripeEvent => ({
    id: nextId("evt"),
    object: "event",
    type,
    created: seconds(),
    data: { object: structuredClone(object) },
  });

  const get = (id: string): StripeObject => {
    const found = objects.get(id);
    if (!found) throw new Error(`no ${id} at Stripe`);
    return found;
  };

  function addInvoice(fields: {
    customer: unknown;
    amount: number;
    metadata: object;
    subscription: StripeObject | null;
    reason: string;
  }): StripeObject {
    const { customer, amount, metadata, subscription, reason } = fields;
    const invoice = add("in", "invoice", {
      customer,
      currency: "eur",
      status: "open",
      amount_due: amount,
      amount_paid: 0,
      billing_reason: reason,
      attempt_count: 0,
      metadata: subscription ? {} : metadata,
      parent: subscription && {
        type: "subscription_details",
        subscription_details: { subscription: subscription.id, metadata: subscription.metadata },
      },
    });
    return Object.assign(invoice, { hosted_invoice_url: `https://invoice.stripe.test/${invoice.id}` });
  }

  /** Pays an invoice. Returns the payment intent. */
  function payInvoice(invoice: StripeObject): string {
    Object.assign(invoice, { status: "paid", amount_paid: invoice.amount_due });
    const paymentIntentId = nextId("pi");
    const charge = add("ch", "charge", {
      customer: invoice.customer,
      payment_intent: paymentIntentId,
      amount: invoice.amount_paid,
      amount_refunded: 0,
      currency: "eur",
    });
    payments.set(paymentIntentId, { invoiceId: invoice.id, chargeId: charge.id });
    return paymentIntentId;
  }

  const session = {
    /** A user pays a checkout. Returns the events in the order of their causes. */
    complete(id: string): { events: StripeEvent[]; paymentIntentId: string; subscriptionId: string | null } {
      const checkout = get(id);
      const { customer } = checkout;
      const [metadata, amount] = [checkout.metadata as object, checkout.amount_total as number];
      Object.assign(checkout, { status: "complete", payment_status: "paid" });
      if (checkout.mode === "payment") {
        const invoice = addInvoice({ customer, amount, metadata, subscription: null, reason: "manual" });
        const paymentIntentId = payInvoice(invoice);
        Object.assign(checkout, { invoice: invoice.id, payment_intent: paymentIntentId });
        const events = [emit("checkout.session.completed", checkout), emit("invoice.paid", invoice)];
        return { events, paymentIntentId, subscriptionId: null };
      }
      const subscription = add("sub", "subscription", {
        customer,
        metadata,
        status: "incomplete",
        cancel_at_period_end: false,
        cancel_at: null,
        items: { object: "list", data: [{ current_period_end: seconds() + PERIOD_SECONDS }] },
      });
      const events = [emit("customer.subscription.created", subscription)];
      const invoice = addInvoice({ customer, amount, metadata, subscription, reason: "subscription_create" });
      const paymentIntentId = payInvoice(invoice);
      subscription.status = "active";
      checkout.subscription = subscription.id;
      events.push(
        emit("invoice.paid", invoice),
        emit("customer.subscription.updated", subscription),
        emit("checkout.session.completed", checkout),
      );
      return { events, paymentIntentId, subscriptionId: subscription.id };
    },
    /** A user chooses a payment method that takes days. `end` is how it ends. */
    completeLater(id: string): { completed: StripeEvent; end: (hasPaid: boolean) => StripeEvent } {
      const checkout = get(id);
      Object.assign(checkout, { status: "complete", payment_status: "unpaid" });
      return {
        completed: emit("checkout.session.completed", checkout),
        end: (hasPaid) => {
          if (!hasPaid) return emit("checkout.session.async_payment_failed", checkout);
          Object.assign(checkout, { payment_status: "paid", payment_intent: nextId("pi") });
          return emit("checkout.session.async_payment_succeeded", checkout);
        },
      };
    },
    expire(id: string): StripeEvent {
      const checkout = Object.assign(get(id), { status: "expired" });
      return emit("checkout.session.expired", checkout);
    },
  };

  const subscription = {
    /** The next period begins. Returns the events. */
    renew(id: string, outcome: "paid" | "failed"): { events: StripeEvent[]; invoice: StripeObject } {
      const renewed = get(id);
      const fields = { customer: renewed.customer, amount: 1900, metadata: {}, reason: "subscription_cycle" };
      const invoice = addInvoice({ ...fields, subscription: renewed });
      renewed.items = { object: "list", data: [{ current_period_end: seconds() + PERIOD_SECONDS }] };
      invoice.attempt_count = 1;
      if (outcome === "paid") payInvoice(invoice);
      renewed.status = outcome === "paid" ? "active" : "past_due";
      const type = outcome === "paid" ? "invoice.paid" : "invoice.payment_failed";
      return { events: [emit(type, invoice), emit("customer.subscription.updated", renewed)], invoice };
    },
    /** A failed payment is tried again, and succeeds. */
    recover(id: string, invoice: StripeObject): StripeEvent[] {
      payInvoice(invoice);
      const recovered = Object.assign(get(id), { status: "active" });
      return [emit("invoice.paid", invoice), emit("customer.subscription.updated", recovered)];
    },
    /** The amount changes within a period. */
    prorate(id: string): StripeEvent {
      const changed = get(id);
      const fields = { customer: changed.customer, amount: 300, metadata: {}, reason: "subscription_update" };
      const invoice = addInvoice({ ...fields, subscription: changed });
      payInvoice(invoice);
      return emit("invoice.paid", invoice);
    },
    /** A user of Stripe's pages cancels it for the end of its period. */
    cancelAtPeriodEnd(id: string): StripeEvent {
      return emit("customer.subscription.updated", Object.assign(get(id), { cancel_at_period_end: true }));
    },
    delete(id: string): StripeEvent {
      const deleted = Object.assign(get(id), { status: "canceled" });
      return emit("customer.subscription.deleted", deleted);
    },
  };

  return {
    objects,
    payments,
    add,
    emit,
    get,
    session,
    subscription,
    /** Refunds a part of a payment. The event has the sum of all parts. */
    refund(paymentIntentId: string, amount: number): StripeEvent {
      const charge = get(payments.get(paymentIntentId)!.chargeId);
      charge.amount_refunded = (charge.amount_refunded as number) + amount;
      return emit("charge.refunded", charge);
    },
  };
}
