/** Cuts. The plan is a large column: only the single read takes it along. */
import { and, desc, eq, getTableColumns, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { preparedRow } from "./prepared";
import { cuts } from "./schema";

export type Cut = typeof cuts.$inferSelect;
export type CutRow = Omit<Cut, "plan">;
export type CutState = Cut["state"];

const { plan: _plan, ...withoutPlan } = getTableColumns(cuts);

export async function insertCut(tx: Queries, cut: typeof cuts.$inferInsert): Promise<Cut> {
  const [row] = await tx.insert(cuts).values(cut).returning();
  return row!;
}

const ownCut = preparedRow<{ id: string; userId: string }, Cut>((db) =>
  db
    .select()
    .from(cuts)
    .where(and(eq(cuts.id, sql.placeholder("id")), eq(cuts.user_id, sql.placeholder("userId"))))
    .limit(1)
    .prepare(),
);

/** The user's own cut with its plan, or null. */
export const findCut = (db: Queries, userId: string, id: string) => ownCut(db, { id, userId });

/** Any user's cut, for jobs. */
export async function getCut(db: Queries, id: string): Promise<Cut | null> {
  const [row] = await db.select().from(cuts).where(eq(cuts.id, id)).limit(1);
  return row ?? null;
}

/** The cut that an identical request made, unless it failed in a way that another try may mend. */
export async function findSameCut(db: Queries, userId: string, requestHash: string): Promise<Cut | null> {
  const [row] = await db
    .select()
    .from(cuts)
    .where(
      and(
        eq(cuts.user_id, userId),
        eq(cuts.request_hash, requestHash),
        or(ne(cuts.state, "failed"), and(ne(cuts.error_code, "processing_failed"), ne(cuts.error_code, "cancelled"))),
      ),
    )
    .orderBy(desc(cuts.id))
    .limit(1);
  return row ?? null;
}

/** The user's cuts, newest first, without plans. */
export function listCuts(
  db: Queries,
  userId: string,
  filter: { assetId: string | null; state: CutState | null; afterId: string | null; limit: number },
): Promise<CutRow[]> {
  return db
    .select(withoutPlan)
    .from(cuts)
    .where(
      and(
        eq(cuts.user_id, userId),
        filter.assetId ? eq(cuts.asset_id, filter.assetId) : undefined,
        filter.state ? eq(cuts.state, filter.state) : undefined,
        filter.afterId ? lt(cuts.id, filter.afterId) : undefined,
      ),
    )
    .orderBy(desc(cuts.id))
    .limit(filter.limit);
}

/** Changes the cut unless it is in a terminal state; null when it is, or is gone. */
export async function updateOpenCut(
  tx: Queries,
  id: string,
  change: Partial<typeof cuts.$inferInsert>,
): Promise<Cut | null> {
  const [row] = await tx
    .update(cuts)
    .set(change)
    .where(and(eq(cuts.id, id), isNull(cuts.completed_at)))
    .returning();
  return row ?? null;
}

export async function deleteCut(tx: Queries, id: string): Promise<void> {
  await tx.delete(cuts).where(eq(cuts.id, id));
}
