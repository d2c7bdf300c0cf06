/** Drafts: the unsaved edits of cuts. A cut has at most one. */
import { and, eq } from "drizzle-orm";
import type { Queries } from "./db";
import { deleteRows, findRow } from "./rows";
import { drafts } from "./schema";

export type Draft = typeof drafts.$inferSelect;

export const findDraft = (db: Queries, workspaceId: string, cutId: string): Promise<Draft | null> =>
  findRow(db, drafts, and(eq(drafts.cut_id, cutId), eq(drafts.workspace_id, workspaceId)));

/** Returns the revision of a cut's draft without its content; null if there is none. */
export async function readDraftRevision(db: Queries, cutId: string): Promise<number | null> {
  const [row] = await db.select({ revision: drafts.revision }).from(drafts).where(eq(drafts.cut_id, cutId)).limit(1);
  return row?.revision ?? null;
}

/** Inserts the draft, or replaces the older one of its cut. */
export async function saveDraft(tx: Queries, draft: Draft): Promise<void> {
  await tx.insert(drafts).values(draft).onConflictDoUpdate({ target: drafts.cut_id, set: draft });
}

export const deleteDraft = (tx: Queries, cutId: string): Promise<void> =>
  deleteRows(tx, drafts, eq(drafts.cut_id, cutId));
