/** Vocabularies of workspaces and projects: read, replaced, and as one list for a recording. */
import { AppError, conflict, requireFound } from "../../domain/errors";
import {
  cleanTerm,
  listVocabularyProblems,
  mergeVocabularies,
  toFieldErrors,
  type VocabularyEntry,
} from "../../domain/vocabulary/entries";
import type { Queries } from "../../store/db";
import { findProject } from "../../store/projects";
import { findVocabulary, saveVocabulary } from "../../store/vocabularies";
import type { CoreNeeds } from "../needs";
import { requireDatabaseSpace, requireRoomForText } from "../storage/limits";

/** `revision` is 0 until a vocabulary is saved. */
export type SavedVocabulary = { entries: VocabularyEntry[]; revision: number };

/** Owner of a vocabulary. `projectId`: null for the vocabulary of the workspace. */
export type VocabularyOwner = { workspaceId: string; projectId: string | null };

const toOwnerId = ({ workspaceId, projectId }: VocabularyOwner): string => projectId ?? workspaceId;

export async function readVocabulary(db: Queries, owner: VocabularyOwner): Promise<SavedVocabulary> {
  const { entries, revision } = (await findVocabulary(db, toOwnerId(owner))) ?? { entries: [], revision: 0 };
  return { entries, revision };
}

/** Returns the entries for recordings of a project. Those of the project win over those of the workspace. */
export async function readEntries(db: Queries, workspaceId: string, projectId: string): Promise<VocabularyEntry[]> {
  const [own, shared] = [await findVocabulary(db, projectId), await findVocabulary(db, workspaceId)];
  return mergeVocabularies(own?.entries ?? [], shared?.entries ?? []);
}

/**
 * Replaces a vocabulary. Errors: `not_found`, `conflict` (another revision, quota), `validation_error`,
 * `upstream_unavailable`.
 */
export async function updateVocabulary(
  services: CoreNeeds,
  owner: VocabularyOwner,
  { entries: sent, revision, userId }: SavedVocabulary & { userId: string },
): Promise<SavedVocabulary> {
  const entries = sent.map(({ text, spoken_as }) => ({ text: cleanTerm(text), spoken_as: spoken_as.map(cleanTerm) }));
  const fields = toFieldErrors(listVocabularyProblems(entries));
  if (fields.length > 0) throw new AppError("validation_error", "Vocabulary has invalid entries.", { fields });
  requireDatabaseSpace(services);
  const { workspaceId, projectId } = owner;
  return services.store.write(async (tx) => {
    // It may have been deleted in the meantime.
    if (projectId !== null) requireFound(await findProject(tx, workspaceId, projectId), "Project");
    const old = await readVocabulary(tx, owner);
    if (old.revision !== revision)
      throw conflict(`Revision is ${revision}, but the vocabulary has revision ${old.revision}: read it again.`);
    const saved = { entries, revision: revision + 1 };
    await requireRoomForText(services, tx, workspaceId, [JSON.stringify(entries)], [JSON.stringify(old.entries)]);
    await saveVocabulary(tx, {
      id: toOwnerId(owner),
      workspace_id: workspaceId,
      project_id: projectId,
      ...saved,
      updated_by: userId,
      updated_at: services.now(),
    });
    return saved;
  });
}
