/** Drafts of edits. Pages save them during editing, so that nothing is lost and users do not overwrite each other. */
import { AppError, conflict, requireFound } from "../../domain/errors";
import { findAssetById } from "../../store/assets";
import { type Cut, type Draft, deleteDraft, findDraft, readEndedDraftRevision, saveDraft } from "../../store/cuts";
import type { Queries } from "../../store/db";
import type { CoreNeeds } from "../needs";
import { requireDatabaseSpace, requireRoomForText } from "../storage/limits";
import { MAX_EDITED_SEGMENTS, type PlanEdit, requireValidEdit } from "./plan-edits";
import { formatMessageTime, readAuthor, requireCurrent } from "./versions";

/** `revision`: the client's revision of the draft, 0 without one. */
export type DraftChange = PlanEdit & { revision: number; userId: string };

/**
 * Saves the draft of a cut. Errors: `conflict` (another revision, a cut that is not completed or superseded, quota),
 * `validation_error`, `upstream_unavailable`.
 */
export async function updateDraft(services: CoreNeeds, cut: Cut, { revision, segments, texts, userId }: DraftChange) {
  const { store } = services;
  if (cut.state !== "completed") throw conflict(`Cut is ${cut.state}, not completed.`);
  const asset = requireFound(await findAssetById(store.read, cut.asset_id), "Asset of the cut");
  requireValidEdit({ segments, texts }, { duration: asset.duration ?? 0, frames: null });
  requireDatabaseSpace(services);
  return store.write(async (tx) => {
    await requireCurrent(tx, cut);
    const old = await findDraft(tx, cut.workspace_id, cut.id);
    await requireDraftRevision(tx, old, revision);
    return storeDraft(services, tx, cut, { old, segments, texts, userId });
  });
}

/** Deletes the draft. Throws `conflict` if `revision` is given and differs from the stored one. */
export const discardDraft = ({ store }: Pick<CoreNeeds, "store">, draft: Draft, revision: number | null) =>
  store.write(async (tx) => {
    const stored = await findDraft(tx, draft.workspace_id, draft.cut_id);
    if (revision !== null) await requireDraftRevision(tx, stored, revision);
    await deleteDraft(tx, draft.cut_id);
  });

/**
 * Throws `AppError` `conflict` with who saved the draft and when, unless the draft has this revision. 0 means that the
 * cut has no draft.
 */
export async function requireDraftRevision(tx: Queries, draft: Draft | null, revision: number): Promise<void> {
  if ((draft?.revision ?? 0) === revision) return;
  const found =
    draft === null
      ? "there is no draft"
      : `${await readAuthor(tx, draft.updated_by)} saved revision ${draft.revision} on ${formatMessageTime(draft.updated_at)}`;
  throw conflict(`Revision is ${revision}, but ${found}: read the draft again.`);
}

/** Stores the draft of a cut in place of `old`. Errors: `conflict` (quota), `validation_error` (too many segments). */
export async function storeDraft(
  services: CoreNeeds,
  tx: Queries,
  cut: Cut,
  { old, segments, texts, userId }: PlanEdit & { old: Draft | null; userId: string },
): Promise<Draft> {
  if (segments.length > MAX_EDITED_SEGMENTS)
    throw new AppError("validation_error", `The draft would have more than ${MAX_EDITED_SEGMENTS} segments.`);
  await requireRoomForText(services, tx, cut.workspace_id, listTexts({ segments, texts }), old ? listTexts(old) : []);
  const draft: Draft = {
    cut_id: cut.id,
    workspace_id: cut.workspace_id,
    revision: (old?.revision ?? (await readEndedDraftRevision(tx, cut.id))) + 1,
    segments,
    texts,
    updated_by: userId,
    updated_at: services.now(),
  };
  await saveDraft(tx, draft);
  return draft;
}

/** Returns the columns of a draft that count as storage. */
const listTexts = ({ segments, texts }: PlanEdit): string[] => [JSON.stringify(segments), JSON.stringify(texts)];
