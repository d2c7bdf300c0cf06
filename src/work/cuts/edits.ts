/** Edits of cuts that are saved as cuts, in place of an earlier version or as another one. */
import { invalidField, requireFound } from "../../domain/errors";
import type { PacingOptions } from "../../domain/pacing/repace";
import type { CutOptions } from "../../domain/plan";
import { findAssetById } from "../../store/assets";
import { type Cut, deleteDraft, findCut, findDraft, insertCut, supersedeCut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { touchProject } from "../../store/projects";
import { copyReview } from "../../store/reviews";
import { indexCorrections, readCorrections } from "../search/index-corrections";
import { requireDatabaseSpace, requireRoomForText } from "../storage/limits";
import { emitCutEvent } from "../webhooks/events";
import { requireDraftRevision } from "./drafts";
import type { PlanEdit } from "./plan-edits";
import { runPlanOperation } from "./plan-files";
import type { PlanNeeds } from "./plan-requests";
import { hasBasis } from "./stored-basis";
import { summarizeCut } from "./summaries";
import { requireCurrent } from "./versions";

/**
 * `keepsDraft`: the draft of the cut stays, and the edit is set aside. `replaces`: the ID of the version that the edit
 * takes the place of, and whose name and note it keeps if it has none of its own. `draftRevision`: that of the edit;
 * null if it does not matter.
 */
export type SavedEdit = PlanEdit & {
  name: string | null | undefined;
  note: string | null | undefined;
  replaces: string | null;
  draftRevision: number | null;
  keepsDraft: boolean;
  userId: string;
};

/**
 * Prepares a new cut with the user's segments and texts. Returns a function that inserts the cut, already completed, in
 * a write transaction, and deletes the draft of the old one, unless it stays. Errors: `conflict` (not completed, quota,
 * another draft, a version that was replaced), `not_found` (no version to replace), `validation_error`,
 * `upstream_unavailable`.
 */
export async function prepareEdit(
  services: PlanNeeds,
  cut: Cut,
  { segments, texts, pacing, name, note, replaces, draftRevision, keepsDraft, userId }: SavedEdit,
): Promise<(tx: Queries) => Promise<Cut>> {
  // The superseded cut would keep a draft that cannot be saved.
  if (keepsDraft && replaces !== null) throw invalidField("body.keep_draft", "must not be true with replaces", true);
  const edit = { edit: { segments, texts, ...(pacing && { pacing }) }, basis: cut.basis };
  const { plan, basis, items } = await runPlanOperation(services, cut, "edit", edit);
  requireDatabaseSpace(services);
  const corrections = await readCorrections(services.store.read, { ...cut, plan, basis }, cut.id);
  const now = services.now();
  return async (tx) => {
    const asset = requireFound(await findAssetById(tx, cut.asset_id), "Asset of the cut");
    const replaced = replaces === null ? null : await getReplaceable(tx, cut, replaces);
    if (draftRevision !== null)
      await requireDraftRevision(tx, await findDraft(tx, cut.workspace_id, cut.id), draftRevision);
    const edited: Parameters<typeof insertCut>[1] = {
      workspace_id: cut.workspace_id,
      asset_id: cut.asset_id,
      state: "completed",
      script: cut.script,
      options: pacing && basis !== null && hasBasis(basis) ? toCutOptions(pacing) : cut.options,
      request_hash: null,
      // Pages that show the source of a copy do not follow the versions of the copy.
      edited_from: (replaced?.is_set_aside ? replaced.id : replaced?.edited_from) ?? cut.id,
      is_set_aside: keepsDraft,
      name: name === undefined ? (replaced?.name ?? null) : name,
      note: note === undefined ? (replaced?.note ?? null) : note,
      review_items: cut.review_items ?? items,
      plan,
      basis,
      created_by: userId,
      created_at: now,
      started_at: now,
      completed_at: now,
    };
    const { script, options, review_items } = edited;
    const counted = [script, JSON.stringify(options), plan, basis, review_items, edited.name, edited.note];
    await requireRoomForText(services, tx, cut.workspace_id, counted);
    const inserted = await insertCut(tx, edited);
    await copyReview(tx, cut.id, inserted.id);
    await summarizeCut(tx, inserted);
    await indexCorrections(tx, inserted, cut.id, corrections);
    if (replaced) await supersedeCut(tx, replaced.id, inserted.id, now);
    if (!keepsDraft) for (const id of new Set([cut.id, replaced?.id ?? cut.id])) await deleteDraft(tx, id);
    await touchProject(tx, asset.project_id, now);
    await emitCutEvent(tx, inserted, "cut.completed", now);
    return inserted;
  };
}

/** Returns the options that cuts have. */
function toCutOptions({ remove_off_script: _, remove_pauses: __, ...options }: PacingOptions): CutOptions {
  return options;
}

/**
 * Returns the cut that an edit replaces. Errors: `not_found`, `validation_error`, `conflict` if another one has
 * replaced it.
 */
async function getReplaceable(tx: Queries, cut: Cut, id: string): Promise<Cut> {
  const replaced = requireFound(await findCut(tx, cut.workspace_id, id), "Cut to replace");
  if (replaced.asset_id !== cut.asset_id || replaced.edited_from === null)
    throw invalidField("body.replaces", "must be an edited cut of the same recording", id);
  await requireCurrent(tx, replaced);
  return replaced;
}
