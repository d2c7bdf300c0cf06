/** Cuts that wait for their recording. */
import { and, asc, eq, inArray, isNotNull, isNull, lte, ne, or } from "drizzle-orm";
import type { Queries } from "./db";
import { first, rowsOf } from "./rows";
import { assets } from "./schema";
import { plannedCuts } from "./schema-cuts";

const plannedCutRows = rowsOf(plannedCuts);

export type PlannedCut = typeof plannedCuts.$inferSelect;

export const findPlannedCut = plannedCutRows.findBy(plannedCuts.asset_id);

/** Plans a cut of the asset, in place of the planned one. */
export async function putPlannedCut(tx: Queries, cut: Omit<PlannedCut, "error_message" | "retry_at">) {
  await deletePlannedCut(tx, cut.asset_id);
  return plannedCutRows.insert(tx, cut);
}

export const deletePlannedCut = plannedCutRows.deleteBy(plannedCuts.asset_id);

/** Matches planned cuts whose asset can be cut. */
const CAN_START = and(
  inArray(assets.state, ["processing", "ready"]),
  eq(assets.audio_prepared, true),
  ne(assets.payment, "none"),
);

/** Lists planned cuts whose asset can be cut: those that were not tried yet, and those that are to be tried again. */
export async function listDuePlannedCuts(db: Queries, now: number, limit: number): Promise<PlannedCut[]> {
  const rows = await db
    .select({ cut: plannedCuts })
    .from(plannedCuts)
    .innerJoin(assets, eq(assets.id, plannedCuts.asset_id))
    .where(and(or(isNull(plannedCuts.retry_at), lte(plannedCuts.retry_at, now)), CAN_START))
    .orderBy(asc(plannedCuts.retry_at), asc(plannedCuts.asset_id))
    .limit(limit);
  return rows.map(({ cut }) => cut);
}

/** Returns when the next cut whose asset can be cut is to be tried again, or null. */
export async function findNextRetry(db: Queries): Promise<number | null> {
  const next = await first(
    db
      .select({ retryAt: plannedCuts.retry_at })
      .from(plannedCuts)
      .innerJoin(assets, eq(assets.id, plannedCuts.asset_id))
      .where(and(isNotNull(plannedCuts.retry_at), CAN_START))
      .orderBy(asc(plannedCuts.retry_at))
      .limit(1),
  );
  return next?.retryAt ?? null;
}

/** Records why the cut could not start. Does nothing if the cut is no longer planned. */
export const postponePlannedCut = (tx: Queries, assetId: string, change: { error_message: string; retry_at: number }) =>
  plannedCutRows.updateAll(tx, change, { asset_id: assetId });
