/** Drafts of edits. Pages save them during editing, so that nothing is lost and users do not overwrite each other. */
import { AppError, requireFound } from "../../domain/errors";
import { findAssetById } from "../../store/assets";
import { type Cut, type Draft, findDraft, saveDraft } from "../../store/cuts";
import type { CoreNeeds } from "../needs";
import { requireDatabaseSpace, requireRoomForText } from "../storage/limits";
import { type PlanEdit, requireValidEdit } from "./plan-edits";

/** `revision`: the client's revision of the draft, 0 without one. */
export type DraftChange = PlanEdit & { revision: number; userId: string };

/** Saves the draft of a cut. Errors: `conflict` (another revision, a cut that is not completed, quota), `validation_error`, `upstream_unavailable`. */
export async function updateDraft(
  services: CoreNeeds,
  cut: Cut,
  { revision, segments, texts, userId }: DraftChange,
): Promise<Draft> {
  const { store, now } = services;
  if (cut.state !== "completed") throw new AppError("conflict", `Cut is ${cut.state}, not completed.`);
  const asset = requireFound(await findAssetById(store.read, cut.asset_id), "Asset of the cut");
  requireValidEdit({ segments, texts }, { duration: asset.duration ?? 0, frames: null });
  requireDatabaseSpace(services);
  return store.write(async (tx) => {
    const old = await findDraft(tx, cut.workspace_id, cut.id);
    const stored = old?.revision ?? 0;
    if (stored !== revision) {
      const found = stored === 0 ? "there is no draft" : `the draft has revision ${stored}`;
      throw new AppError("conflict", `Revision is ${revision}, but ${found}: read the draft again.`);
    }
    await requireRoomForText(services, tx, cut.workspace_id, listTexts({ segments, texts }), old ? listTexts(old) : []);
    const draft: Draft = {
      cut_id: cut.id,
      workspace_id: cut.workspace_id,
      revision: revision + 1,
      segments,
      texts,
      updated_by: userId,
      updated_at: now(),
    };
    await saveDraft(tx, draft);
    return draft;
  });
}

/** Returns the columns of a draft that count as storage. */
const listTexts = ({ segments, texts }: PlanEdit): string[] => [JSON.stringify(segments), JSON.stringify(texts)];
