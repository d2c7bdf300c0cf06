/** Vocabularies of workspaces and projects. */
import { eq } from "drizzle-orm";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { vocabularies } from "./schema-cuts";

export type Vocabulary = typeof vocabularies.$inferSelect;

const vocabularyRows = rowsOf(vocabularies);

/** Returns the vocabulary of a workspace or a project; null if nobody has saved one. */
export const findVocabulary = (db: Queries, ownerId: string): Promise<Vocabulary | null> =>
  vocabularyRows.find(db, eq(vocabularies.id, ownerId));

export async function saveVocabulary(tx: Queries, vocabulary: Vocabulary): Promise<void> {
  await tx.insert(vocabularies).values(vocabulary).onConflictDoUpdate({ target: vocabularies.id, set: vocabulary });
}
