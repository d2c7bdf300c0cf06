/** The ledger and the holds with their recordings, steps and orders, as the dashboard shows them. */
import { and, asc, desc, eq, gt, gte, lt, or, type SQL, sql } from "drizzle-orm";
import type { LEDGER_TYPES } from "../domain/states";
import type { Queries } from "./db";
import { contains, type IdPage, isAfter, type OffsetPage, readPage, toRowPage } from "./rows";
import { assets, holds, ledger, pipelines, steps } from "./schema";
import { invoices } from "./schema-billing";

/** `step` is set for `consume_step`. `asset` is null if deleted. `invoice` is set for `topup` and provider refunds. */
export type CreditEntry = Awaited<ReturnType<typeof selectEntries>>[number];

/** Undefined means any. `since` is inclusive, `until` not. `q` is part of a recording's name or an invoice. */
export type CreditFilter = {
  type?: (typeof LEDGER_TYPES)[number] | undefined;
  since?: number | undefined;
  until?: number | undefined;
  q?: string | undefined;
};

const ASSET = { id: assets.id, name: assets.name, filename: assets.filename };
const SEARCHED = [assets.name, assets.filename, ledger.payment_invoice_id, invoices.description];

const matches = (workspaceId: string, { type, since, until, q }: CreditFilter): SQL | undefined =>
  and(
    eq(ledger.workspace_id, workspaceId),
    type === undefined ? undefined : eq(ledger.type, type),
    since === undefined ? undefined : gte(ledger.created_at, since),
    until === undefined ? undefined : lt(ledger.created_at, until),
    q === undefined ? undefined : or(...SEARCHED.map((column) => contains(column, q))),
  );

const selectEntries = (db: Queries) =>
  db
    .select({
      entry: ledger,
      step: { pipeline_id: steps.pipeline_id, processor_name: steps.processor_name },
      asset: ASSET,
      invoice: { order_id: invoices.order_id, description: invoices.description },
    })
    .from(ledger)
    .leftJoin(steps, eq(steps.id, ledger.step_id))
    .leftJoin(assets, eq(assets.id, sql`coalesce(${ledger.asset_id}, ${steps.input_asset_id})`))
    .leftJoin(invoices, eq(invoices.payment_invoice_id, ledger.payment_invoice_id));

/** Lists the workspace's entries, newest first. */
export async function listCreditEntries(db: Queries, workspaceId: string, filter: CreditFilter, page: IdPage) {
  return toRowPage(
    selectEntries(db)
      .where(and(matches(workspaceId, filter), isAfter(ledger.id, page)))
      .orderBy(desc(ledger.id)),
    page.limit,
  );
}

/** Lists at most `limit` entries that follow the one with the ID `afterId`, oldest first. */
export const listCreditEntriesAfter = (
  db: Queries,
  workspaceId: string,
  filter: CreditFilter,
  page: { afterId: string; limit: number },
): Promise<CreditEntry[]> =>
  selectEntries(db)
    .where(and(matches(workspaceId, filter), gt(ledger.id, page.afterId)))
    .orderBy(asc(ledger.id))
    .limit(page.limit);

/**
 * Lists the workspace's active holds, oldest first, with the recording of their pipeline. `asset` is null if it was
 * deleted.
 */
export async function listHoldsWithAssets(db: Queries, workspaceId: string, page: OffsetPage) {
  const condition = eq(holds.workspace_id, workspaceId);
  const query = db
    .select({ hold: holds, asset: ASSET })
    .from(holds)
    .leftJoin(pipelines, eq(pipelines.id, holds.pipeline_id))
    .leftJoin(assets, eq(assets.id, sql`coalesce(${holds.asset_id}, ${pipelines.input_asset_id})`));
  return readPage(query.where(condition).orderBy(asc(holds.id)), page, db.$count(holds, condition));
}
