/** Invoices of payment providers, and what the ledger has of them. */
import { and, count, desc, eq, sql, sum } from "drizzle-orm";
import type { Queries } from "./db";
import { ledger } from "./schema";
import { invoices } from "./schema-billing";

export type Invoice = typeof invoices.$inferSelect;

export async function insertInvoice(tx: Queries, invoice: typeof invoices.$inferInsert): Promise<Invoice> {
  const [row] = await tx.insert(invoices).values(invoice).returning();
  return row!;
}

export async function updateInvoice(
  tx: Queries,
  id: string,
  change: Partial<Omit<Invoice, "id" | "workspace_id">>,
): Promise<Invoice> {
  const [row] = await tx.update(invoices).set(change).where(eq(invoices.id, id)).returning();
  return row!;
}

/** Returns the invoice with this ID of the provider, or null. */
export async function findInvoice(db: Queries, paymentInvoiceId: string): Promise<Invoice | null> {
  const [row] = await db.select().from(invoices).where(eq(invoices.payment_invoice_id, paymentInvoiceId)).limit(1);
  return row ?? null;
}

/** Returns the first invoice of an order, or null. */
export async function findOrderInvoice(db: Queries, orderId: string): Promise<Invoice | null> {
  const [row] = await db.select().from(invoices).where(eq(invoices.order_id, orderId)).orderBy(invoices.id).limit(1);
  return row ?? null;
}

/** Lists the invoices of a workspace, newest first. */
export async function listInvoices(
  db: Queries,
  workspaceId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: Invoice[]; total: number }> {
  const condition = eq(invoices.workspace_id, workspaceId);
  const rows = await db.select().from(invoices).where(condition).orderBy(desc(invoices.id)).limit(limit).offset(offset);
  const [all] = await db.select({ n: count() }).from(invoices).where(condition);
  return { rows, total: all?.n ?? 0 };
}

/** Gives the invoices of a workspace another ID, without the links to their pages, which show who paid. */
export async function moveInvoices(tx: Queries, workspaceId: string, newId: string): Promise<void> {
  await tx.update(invoices).set({ workspace_id: newId, url: null }).where(eq(invoices.workspace_id, workspaceId));
}

/** Returns whether the ledger has the credits of an invoice, and how many refunds have taken back. */
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
