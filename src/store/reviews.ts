/** Reviews of cuts: the decisions of users about their items. */
import { and, eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { isAnyOf, readValue, rowsOf } from "./rows";
import { reviewDecisions, reviews } from "./schema-cuts";

export type StoredDecision = typeof reviewDecisions.$inferSelect;

const decisionRows = rowsOf(reviewDecisions);
const putReview = rowsOf(reviews).putBy(reviews.cut_id);

export const listDecisions = (db: Queries, cutId: string) => decisionRows.list(db, { cut_id: cutId });

/** Returns the revision of a cut's review, 0 while nothing was decided. */
export const readReviewRevision = async (db: Queries, cutId: string): Promise<number> =>
  (await readValue<number>(db, sql`SELECT revision FROM ${reviews} WHERE cut_id = ${cutId}`)) ?? 0;

/** Rows per statement: SQLite allows 32,766 parameters in one. */
const ROWS_PER_STATEMENT = 5_000;

export async function saveDecisions(tx: Queries, decisions: readonly StoredDecision[]): Promise<void> {
  for (let from = 0; from < decisions.length; from += ROWS_PER_STATEMENT)
    await tx
      .insert(reviewDecisions)
      .values(decisions.slice(from, from + ROWS_PER_STATEMENT))
      .onConflictDoUpdate({
        target: [reviewDecisions.cut_id, reviewDecisions.item_id],
        set: {
          decision: sql`excluded.decision`,
          reviewed_by: sql`excluded.reviewed_by`,
          reviewed_at: sql`excluded.reviewed_at`,
        },
      });
}

export const deleteDecisions = (tx: Queries, cutId: string, itemIds: string[]) =>
  decisionRows.delete(tx, and(eq(reviewDecisions.cut_id, cutId), isAnyOf(reviewDecisions.item_id, itemIds)));

export async function increaseReviewRevision(tx: Queries, cutId: string, workspaceId: string): Promise<number> {
  const revision = (await readReviewRevision(tx, cutId)) + 1;
  await putReview(tx, { cut_id: cutId, workspace_id: workspaceId, revision });
  return revision;
}

/** Copies the decisions on a cut's items, with the revision of its review, to a new cut. */
export async function copyReview(tx: Queries, fromCutId: string, toCutId: string): Promise<void> {
  await tx.run(sql`INSERT INTO ${reviewDecisions} (cut_id, item_id, workspace_id, decision, reviewed_by, reviewed_at)
    SELECT ${toCutId}, item_id, workspace_id, decision, reviewed_by, reviewed_at FROM ${reviewDecisions} WHERE cut_id = ${fromCutId}`);
  await tx.run(sql`INSERT INTO ${reviews} (cut_id, workspace_id, revision)
    SELECT ${toCutId}, workspace_id, revision FROM ${reviews} WHERE cut_id = ${fromCutId}`);
}
