/** Drafts: the unsaved edits of cuts. A cut has at most one. */
import { and, eq } from "drizzle-orm";
import type { Queries } from "./db";
import { drafts } from "./schema";

export type Draft = typeof drafts.$inferSelect;

/** Returns the draft of a cut of the workspace, or null. */
export async function findDraft(db: Queries, workspaceId: string, cutId: string): Promise<Draft | null> {
  const [row] = await db
    .select()
    .from(drafts)
    .where(and(eq(drafts.cut_id, cutId), eq(drafts.workspace_id, workspaceId)))
    .limit(1);
  return row ?? null;
}

/** Returns the revision of a cut's draft without its content; null if there is none. */
export async function readDraftRevision(db: Queries, cutId: string): Promise<number | null> {
  const [row] = await db.select({ revision: drafts.revision }).from(drafts).where(eq(drafts.cut_id, cutId)).limit(1);
  return row?.revision ?? null;
}

/** Inserts the draft, or replaces the older one of its cut. */
export async function saveDraft(tx: Queries, draft: Draft): Promise<void> {
  await tx.insert(drafts).values(draft).onConflictDoUpdate({ target: drafts.cut_id, set: draft });
}

export async function deleteDraft(tx: Queries, cutId: string): Promise<void> {
  await tx.delete(drafts).where(eq(drafts.cut_id, cutId));
}
