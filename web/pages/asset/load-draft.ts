/** Loads earlier edits of a cut that were not saved as a cut. */
import { chooseDraft, type StartDraft } from "./draft-choice";
import { recallLocal } from "./draft-local";
import { fetchDraft } from "./draft-server";

type StoredCut = { id: string; draft_revision: number | null };

export const NO_DRAFT: StartDraft = { draft: null, isUnsaved: false, other: null };

/** Returns the draft to continue with. If the server does not respond, this is the local draft. */
export async function loadDraft({ id, draft_revision }: StoredCut, signal: AbortSignal): Promise<StartDraft> {
  const copies = recallLocal(id);
  try {
    return chooseDraft(draft_revision === null ? null : await fetchDraft(id, signal), copies);
  } catch (error) {
    if (signal.aborted) throw error;
    const [newest = null] = copies;
    return { draft: newest, isUnsaved: newest !== null, other: null };
  }
}
