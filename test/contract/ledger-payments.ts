/**
 * The effects of payments on the credits of a workspace: orders of the offline provider, and events of Stripe that
 * arrive twice, late, in any order, or again because the first delivery was cut off.
 */
import { sql } from "drizzle-orm";
import type { PaymentEvent, PaymentGateway, Price, ProviderInvoice } from "../../src/domain/billing";
import type { Queries } from "../../src/store/db";
import { insertCustomer } from "../../src/store/payments";
import { COMMAND_ACTOR } from "../../src/work/access/audit";
import { approveOrder, createOrder, rejectOrder } from "../../src/work/billing/orders";
import { applyPaymentEvent } from "../../src/work/billing/payment-events";
import type { CoreNeeds } from "../../src/work/needs";

const PRICES: Price[] = [
  { kind: "pack" as const, credits: 7, amount: 900, interval: null },
  { kind: "pack" as const, credits: 20, amount: 1_999, interval: null },
  { kind: "subscription" as const, credits: 11, amount: 1_500, interval: "month" as const },
].map((price, n) => ({
  ...price,
  id: `p${n}`,
  name: `Price ${n}`,
  currency: "eur",
  stripePrice: `s${n}`,
  active: true,
}));

type Order = { id: string; provider: "offline" | "stripe"; price_kind: Price["kind"]; credits: number; amount: number };

/** Expected entries of an order's invoice. */
type ExpectedInvoice = { credits: number; amount: number; isPaid: boolean; amountRefunded: number };

/** An event with its effects once it is applied. */
type Delivery = { event: PaymentEvent; invoiceId: string | null; isPaid: boolean; amountRefunded: number };

export async function createPayments(services: CoreNeeds, owner: { workspaceId: string; userId: string }) {
  const { store } = services;
  const customerId = `cus_${owner.workspaceId}`;
  await store.write((tx) =>
    insertCustomer(tx, { workspace_id: owner.workspaceId, provider_customer_id: customerId, created_at: 0 }),
  );
  const expected = new Map<string, ExpectedInvoice>();
  const orders = new Map<string, Order>();
  let undelivered: Delivery | null = null;
  /** The offline order that is being approved. */
  let approving: Order | null = null;

  const listOrders = async (): Promise<Order[]> =>
    store.read.all<Order>(
      sql`SELECT id, provider, price_kind, credits, amount FROM orders WHERE workspace_id = ${owner.workspaceId} ORDER BY id`,
    );

  const expect = (invoiceId: string, { credits, amount }: Order): ExpectedInvoice => {
    const known = expected.get(invoiceId) ?? { credits, amount, isPaid: false, amountRefunded: 0 };
    expected.set(invoiceId, known);
    return known;
  };

  /** The invoice of the first period of an order, or of a later one. */
  const toInvoice = (order: Order, period: number, isPaid: boolean): ProviderInvoice => ({
    paymentInvoiceId: `in_${order.id}_${period}`,
    orderId: order.id,
    providerSubscriptionId: order.price_kind === "subscription" ? `sub_${order.id}` : null,
    isPaid,
    grantsCredits: true,
    amount: order.amount,
    currency: "eur",
    url: null,
    createdAt: services.now(),
  });

  const gateway = {
    // A refund says that the payment was made, whether or not that was reported.
    findInvoiceOfPayment: async (paymentIntentId: string) => {
      const [, orderId, period] = paymentIntentId.split("_");
      const order = orders.get(orderId!);
      return order ? toInvoice(order, Number(period), true) : null;
    },
    endSubscription: () => Promise.reject(new Error("not expected")),
  } as unknown as PaymentGateway;

  /** Returns the event that `n` chooses. The same number chooses the same event again: a duplicate. */
  function createDelivery(order: Order, n: number): Delivery {
    const isPack = order.price_kind === "pack";
    const period = isPack ? 0 : Math.floor(n / 7) % 2;
    const kind = n % 7;
    const base = {
      id: `evt_${order.id}_${period}_${kind}`,
      type: "test",
      occurredAt: services.now() - 1_000 * (n % 5),
    };
    const invoiceId = `in_${order.id}_${period}`;
    const nothing = { invoiceId: null, isPaid: false, amountRefunded: 0 };
    const paid = toInvoice(order, period, true);
    switch (kind) {
      case 0:
        return {
          event: { ...base, kind: "checkout", orderId: order.id, outcome: "paid", invoice: isPack ? paid : null },
          ...nothing,
          ...(isPack ? { invoiceId, isPaid: true } : {}),
        };
      case 1:
      case 2:
        return {
          event: { ...base, kind: "invoice", outcome: "paid", attempt: 1, invoice: paid },
          ...nothing,
          invoiceId,
          isPaid: true,
        };
      case 3:
        return {
          event: { ...base, kind: "invoice", outcome: "failed", attempt: 1, invoice: toInvoice(order, period, false) },
          ...nothing,
        };
      case 4:
      case 5: {
        const amountRefunded = kind === 4 ? Math.floor(order.amount / 3) : order.amount;
        const paymentIntentId = `pi_${order.id}_${period}`;
        return {
          event: { ...base, kind: "refund", customerId, paymentIntentId, amountRefunded },
          invoiceId,
          isPaid: true,
          amountRefunded,
        };
      }
      default:
        return {
          event: { ...base, kind: "checkout", orderId: order.id, outcome: "expired", invoice: null },
          ...nothing,
        };
    }
  }

  async function deliver(delivery: Delivery, order: Order): Promise<void> {
    undelivered = delivery;
    await applyPaymentEvent({ ...services, payments: gateway }, delivery.event);
    undelivered = null;
    if (delivery.invoiceId === null) return;
    const invoice = expect(delivery.invoiceId, order);
    invoice.isPaid ||= delivery.isPaid;
    invoice.amountRefunded = Math.max(invoice.amountRefunded, delivery.amountRefunded);
  }

  const chosen = async (n: number, provider: Order["provider"]): Promise<Order | undefined> => {
    const list = (await listOrders()).filter((order) => order.provider === provider);
    return list[n % Math.max(1, list.length)];
  };

  return {
    operations: {
      order: (n: number) =>
        store.write(async (tx: Queries) => {
          const provider = n % 3 === 0 ? "offline" : "stripe";
          const price = PRICES[n % PRICES.length]!;
          const order = await createOrder(tx, owner, { provider, price }, services.now());
          orders.set(order.id, order);
        }),
      approve: async (n: number) => {
        const order = await chosen(n, "offline");
        if (!order) return;
        approving = order;
        await store.write((tx) => approveOrder(tx, COMMAND_ACTOR, order.id, services.now()));
        expect(`offline_${order.id}`, order).isPaid = true;
      },
      reject: async (n: number) => {
        const order = await chosen(n, "offline");
        if (order) await store.write((tx) => rejectOrder(tx, COMMAND_ACTOR, order.id, services.now()));
      },
      payment: async (n: number) => {
        const order = await chosen(Math.floor(n / 2), "stripe");
        if (!order) return;
        orders.set(order.id, order);
        await deliver(createDelivery(order, n), order);
      },
    },
    /**
     * After a kill: Stripe sends unacknowledged events again, and an administrator checks whether the order was
     * approved.
     */
    resume: async () => {
      if (undelivered) {
        const { event } = undelivered;
        const order = (await listOrders()).find(({ id }) => event.id.includes(id));
        if (order) await deliver(undelivered, order);
      }
      undelivered = null;
      if (approving) {
        const [row] = await store.read.all<{ state: string }>(sql`SELECT state FROM orders WHERE id = ${approving.id}`);
        if (row?.state === "paid") expect(`offline_${approving.id}`, approving).isPaid = true;
      }
      approving = null;
    },
    /** The credits of all payments, and the credits that refunds took back. */
    totals: () => {
      const paid = [...expected.values()].filter(({ isPaid }) => isPaid);
      return {
        paid: paid.reduce((sum, { credits }) => sum + credits, 0),
        takenBack: paid.reduce(
          (sum, { credits, amount, amountRefunded }) => sum + Math.floor((credits * amountRefunded) / amount),
          0,
        ),
      };
    },
  };
}
