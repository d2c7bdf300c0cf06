/** Credits: the ledger and the holds. The balance is the ledger's sum minus the active holds, and is never stored. */
import { and, asc, count, eq, gt, inArray, isNotNull, isNull, lte, or, sql, sum } from "drizzle-orm";
import type { WorkspaceBalance } from "../domain/backup";
import type { Queries } from "./db";
import { type IdPage, rowsOf } from "./rows";
import { holds, ledger, pipelines } from "./schema";

const holdRows = rowsOf(holds);
const ledgerRows = rowsOf(ledger);

export type LedgerEntry = typeof ledger.$inferSelect;

/** Returns the credits that the workspace can spend. Call it in the transaction that spends them. */
export const readBalance = async (db: Queries, workspaceId: string): Promise<number> =>
  (await ledgerRows.sum(db, ledger.delta, { workspace_id: workspaceId })) - (await readTotalHeld(db, workspaceId));

export const readTotalHeld = (db: Queries, workspaceId: string) =>
  holdRows.sum(db, holds.amount, { workspace_id: workspaceId });

/** Returns the sums of the ledger and the holds of each workspace that has any. */
export async function listBalances(db: Queries): Promise<WorkspaceBalance[]> {
  const entries = await db
    .select({ id: ledger.workspace_id, entries: count(), credits: sum(ledger.delta) })
    .from(ledger)
    .groupBy(ledger.workspace_id);
  const held = await db
    .select({ id: holds.workspace_id, held: sum(holds.amount) })
    .from(holds)
    .groupBy(holds.workspace_id);
  const balances = new Map<string, WorkspaceBalance>();
  const find = (id: string) => balances.get(id) ?? { workspace_id: id, entries: 0, credits: 0, held: 0 };
  for (const row of entries)
    balances.set(row.id, { ...find(row.id), entries: row.entries, credits: Number(row.credits ?? 0) });
  for (const row of held) balances.set(row.id, { ...find(row.id), held: Number(row.held ?? 0) });
  return [...balances.values()];
}

/** Returns the workspace's charges for recordings and steps, minus their refunds. */
export async function readCreditsUsed(db: Queries, workspaceId: string): Promise<number> {
  const isOfWork = or(isNotNull(ledger.asset_id), isNotNull(ledger.step_id));
  const isUse = and(
    eq(ledger.workspace_id, workspaceId),
    or(inArray(ledger.type, ["consume_asset", "consume_step"]), and(eq(ledger.type, "refund"), isOfWork)),
  );
  return 0 - (await ledgerRows.sum(db, ledger.delta, isUse));
}

export const insertLedgerEntry = ledgerRows.insert;

/** Lists the workspace's entries, newest first. */
export const listLedger = (db: Queries, workspaceId: string, page: IdPage) =>
  ledgerRows.listNewest(db, { workspace_id: workspaceId }, page);

export const hasEverGotCredits = (db: Queries, workspaceId: string) =>
  ledgerRows.has(db, and(eq(ledger.workspace_id, workspaceId), gt(ledger.delta, 0)));

/** Lists the entries of an asset: its charge and the refund. */
export const listAssetLedgerEntries = (db: Queries, assetId: string) =>
  ledgerRows.list(db, { asset_id: assetId }, asc(ledger.id));

export const insertHold = holdRows.add;

/** Lists the workspace's active holds, oldest first. */
export const listHolds = (db: Queries, workspaceId: string) =>
  holdRows.list(db, { workspace_id: workspaceId }, asc(holds.id));

export const deleteAssetHold = holdRows.deleteBy(holds.asset_id);

/** Releases every hold, and sets the reserved credits of their pipelines to the consumed ones. */
export async function deleteAllHolds(tx: Queries): Promise<void> {
  const held = tx.select({ id: holds.pipeline_id }).from(holds);
  await tx
    .update(pipelines)
    .set({ total_credits_reserved: sql`${pipelines.total_credits_consumed}` })
    .where(inArray(pipelines.id, held));
  await tx.delete(holds);
}

const isStepHold = (pipelineId: string) => and(eq(holds.pipeline_id, pipelineId), isNull(holds.asset_id));

/** Takes `credits` from the hold for a pipeline's steps. Deletes the hold if nothing is left. */
export async function reduceStepHold(tx: Queries, pipelineId: string, credits: number): Promise<void> {
  await holdRows.updateAll(tx, { amount: sql`${holds.amount} - ${credits}` }, isStepHold(pipelineId));
  await tx.delete(holds).where(and(isStepHold(pipelineId), lte(holds.amount, 0)));
}

export const deleteStepHold = (tx: Queries, pipelineId: string) => holdRows.delete(tx, isStepHold(pipelineId));
