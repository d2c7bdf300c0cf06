/** Invoices of payment providers, and their entries in the ledger. */
import { and, count, desc, eq, sql, sum } from "drizzle-orm";
import type { Queries } from "./db";
import { type OffsetPage, only, rowsOf } from "./rows";
import { ledger } from "./schema";
import { invoices } from "./schema-billing";

const invoiceRows = rowsOf(invoices);

export type Invoice = typeof invoices.$inferSelect;

export const insertInvoice = invoiceRows.insert;

export const updateInvoice = (tx: Queries, id: string, change: Partial<Omit<Invoice, "id" | "workspace_id">>) =>
  only(tx.update(invoices).set(change).where(eq(invoices.id, id)).returning());

/** Returns the invoice with this ID of the provider, or null. */
export const findInvoice = invoiceRows.findBy(invoices.payment_invoice_id);

/** Returns the first invoice of an order, or null. */
export const findOrderInvoice = (db: Queries, orderId: string) =>
  invoiceRows.find(db, { order_id: orderId }, invoices.id);

/** Lists the invoices of a workspace, newest first. */
export const listInvoices = (db: Queries, workspaceId: string, page: OffsetPage) =>
  invoiceRows.listPage(db, { workspace_id: workspaceId }, page, desc(invoices.id));

/** Moves the invoices of a workspace to another ID, and removes the links to their pages, which show the payer. */
export const moveInvoices = (tx: Queries, workspaceId: string, newId: string) =>
  invoiceRows.updateAll(tx, { workspace_id: newId, url: null }, { workspace_id: workspaceId });

/** Returns whether the ledger contains the credits of an invoice, and how many of them refunds have taken back. */
export async function readInvoiceCredits(
  tx: Queries,
  paymentInvoiceId: string,
): Promise<{ isToppedUp: boolean; refunded: number }> {
  const totalOf = async (type: "topup" | "refund") => {
    const [row] = await tx
      .select({ n: count(), total: sum(ledger.delta) })
      .from(ledger)
      // Without the literal condition, SQLite does not use the partial index.
      .where(
        and(
          sql`${ledger.payment_invoice_id} IS NOT NULL`,
          eq(ledger.payment_invoice_id, paymentInvoiceId),
          eq(ledger.type, type),
        ),
      );
    return { n: row?.n ?? 0, total: Number(row?.total ?? 0) };
  };
  const [topup, refund] = [await totalOf("topup"), await totalOf("refund")];
  return { isToppedUp: topup.n > 0, refunded: -refund.total };
}
