/**
 * Invoices and their credits. The ledger follows from the invoice's row: it has the credits once the invoice is paid,
 * minus the refunded share. So an invoice can be settled repeatedly, after any event, in any order.
 */
import { computeRefundedCredits, type ProviderInvoice } from "../../domain/billing";
import { insertLedgerEntry } from "../../store/credits";
import type { Queries } from "../../store/db";
import {
  findInvoice,
  findOrderInvoice,
  type Invoice,
  insertInvoice,
  readInvoiceCredits,
  updateInvoice,
} from "../../store/invoices";
import type { Order } from "../../store/orders";
import { settleWaiting } from "./charge";

/**
 * Adds the credits of a paid invoice and takes back those of its refunds, unless the ledger has them. Assets that wait
 * for credits become ready.
 */
export async function settleInvoice(tx: Queries, invoice: Invoice, now: number): Promise<void> {
  const { credits, amount, amount_refunded: amountRefunded, payment_invoice_id, workspace_id } = invoice;
  if (invoice.paid_at === null || credits === 0) return;
  const { isToppedUp, refunded } = await readInvoiceCredits(tx, payment_invoice_id);
  const entry = { workspace_id, payment_invoice_id, created_at: now };
  if (!isToppedUp) await insertLedgerEntry(tx, { ...entry, type: "topup", delta: credits });
  const due = computeRefundedCredits({ credits, amount, amountRefunded }) - refunded;
  if (due > 0) await insertLedgerEntry(tx, { ...entry, type: "refund", delta: -due });
  if (!isToppedUp) await settleWaiting(tx, workspace_id, now);
}

/** Stores the provider's state of an order's invoice. A paid invoice stays paid. */
export async function recordInvoice(
  tx: Queries,
  order: Order,
  reported: ProviderInvoice & { subscriptionId: string | null; hasFailed: boolean },
  now: number,
): Promise<Invoice> {
  const { paymentInvoiceId, isPaid, hasFailed, amount, currency, url } = reported;
  // A pack is paid once, and its checkout may be reported before its invoice has an ID.
  const known =
    (await findInvoice(tx, paymentInvoiceId)) ??
    (order.price_kind === "pack" ? await findOrderInvoice(tx, order.id) : null);
  const paidAt = known?.paid_at ?? (isPaid ? now : null);
  const amountRefunded = known?.amount_refunded ?? 0;
  // A collection attempt that is reported late must not overwrite the payment.
  const due = known?.paid_at != null ? known.amount : amount;
  const current = {
    state: toInvoiceState({ paidAt, hasFailed, amount: due, amountRefunded }),
    amount: due,
    currency,
    url: url ?? known?.url ?? null,
    paid_at: paidAt,
  };
  if (known) return updateInvoice(tx, known.id, current);
  return insertInvoice(tx, {
    ...current,
    workspace_id: order.workspace_id,
    order_id: order.id,
    subscription_id: reported.subscriptionId,
    payment_invoice_id: paymentInvoiceId,
    price_id: order.price_id,
    description: order.price_name,
    credits: reported.grantsCredits ? order.credits : 0,
    created_at: reported.createdAt,
  });
}

/** Stores the refunded amount of an invoice: the sum of all refunds, so a smaller one is from an older event. */
export function recordRefund(tx: Queries, invoice: Invoice, amountRefunded: number): Promise<Invoice> {
  const refunded = Math.max(invoice.amount_refunded, amountRefunded);
  const { paid_at: paidAt, amount } = invoice;
  return updateInvoice(tx, invoice.id, {
    amount_refunded: refunded,
    state: toInvoiceState({ paidAt, hasFailed: false, amount, amountRefunded: refunded }),
  });
}

function toInvoiceState(invoice: {
  paidAt: number | null;
  hasFailed: boolean;
  amount: number;
  amountRefunded: number;
}): Invoice["state"] {
  const { paidAt, hasFailed, amount, amountRefunded } = invoice;
  if (paidAt === null) return hasFailed ? "failed" : "open";
  return amountRefunded > 0 && amountRefunded >= amount ? "refunded" : "paid";
}
