/** Inserts cuts. The caller has to start them, as steps of a pipeline. */
import { AppError, assetProcessing, conflict, invalidField, requireFound } from "../../domain/errors";
import type { CutStepParams } from "../../domain/step-params";
import { hashJson } from "../../lib/hash";
import { newId } from "../../lib/ids";
import type { Asset } from "../../store/assets";
import { findCut, insertCut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { deletePlannedCut } from "../../store/planned-cuts";
import { estimateRemainingSeconds, findLatestStep } from "../../store/steps";
import type { CoreNeeds } from "../needs";
import { requireDatabaseSpace, requireRoomForText } from "../storage/limits";

/** Returns whether the asset's streams are known and paid for, so that its prepared files can be played. */
export const isViewable = (asset: Asset): boolean =>
  asset.kind === "source" &&
  (asset.state === "processing" || asset.state === "ready") &&
  asset.info !== null &&
  asset.payment !== "none";

/** Returns whether the asset's audio is transcribed and paid for. */
export const isCuttable = (asset: Asset): boolean => isViewable(asset) && asset.audio_prepared;

/**
 * Throws `AppError` `asset_failed`, `asset_payment_required`, `asset_processing` or `conflict` when the asset cannot be
 * cut now.
 */
export async function requireCuttable(
  tx: Queries,
  asset: Asset,
  now: number,
  isReady: (asset: Asset) => boolean = isCuttable,
): Promise<void> {
  if (isReady(asset)) return;
  if (asset.kind !== "source") throw conflict(`Asset is a ${asset.kind}. Only sources can be cut.`);
  if (asset.state === "failed") throw new AppError("asset_failed", "Asset preparation failed. Upload the file again.");
  if (asset.state === "pending_payment" || (asset.state === "processing" && asset.audio_prepared)) {
    throw new AppError("asset_payment_required", "Asset is prepared but not paid for. Add credits.");
  }
  const remaining = estimateRemainingSeconds(await findLatestStep(tx, asset.id), now);
  throw assetProcessing("Asset is still being prepared.", remaining);
}

/** The name and the note that a user gives to a cut. */
export type CutLabel = { name: string | null; note: string | null };

/** `userId` null: the account was deleted. `isStored`: the script is counted as storage already. */
export type NewCut = CutStepParams & Partial<CutLabel> & { asset: Asset; userId: string | null; isStored?: boolean };

export const hashCutRequest = (asset: Asset, { script, options, keepEditsOf }: CutStepParams): string =>
  hashJson([asset.id, script, options, ...(keepEditsOf === undefined ? [] : [keepEditsOf])]);

/**
 * Throws `AppError` `not_found`, `validation_error` or `conflict` unless the edits of this cut can be kept in a cut of
 * the asset.
 */
export async function requireKeepable(tx: Queries, asset: Asset, { keepEditsOf }: CutStepParams): Promise<void> {
  if (keepEditsOf === undefined) return;
  const cut = requireFound(await findCut(tx, asset.workspace_id, keepEditsOf), "Cut whose edits are to be kept");
  if (cut.asset_id !== asset.id)
    throw invalidField("body.keep_edits_of", "must be a cut of the same recording", keepEditsOf);
  if (cut.state !== "completed") throw conflict(`Cut whose edits are to be kept is ${cut.state}, not completed.`);
}

/**
 * Inserts a pending cut, in place of one that is planned and could not start. Errors: `asset_processing`,
 * `asset_payment_required`, `asset_failed`, `conflict` (not a source, quota), `upstream_unavailable` (free space).
 */
export async function insertNewCut(services: CoreNeeds, tx: Queries, { isStored = false, ...request }: NewCut) {
  const now = services.now();
  const { asset, script, options, name, note } = request;
  await requireCuttable(tx, asset, now);
  await requireKeepable(tx, asset, request);
  const texts = [...(isStored ? [] : [script, JSON.stringify(options)]), name, note];
  await requireRoomForText(services, tx, asset.workspace_id, texts);
  requireDatabaseSpace(services);
  await deletePlannedCut(tx, asset.id);
  return insertCut(tx, createCutRow(request, now));
}

export const createCutRow = (
  { asset, script, options, keepEditsOf, name = null, note = null, userId }: Omit<NewCut, "isStored">,
  now: number,
) => ({
  id: newId(),
  workspace_id: asset.workspace_id,
  asset_id: asset.id,
  state: "pending" as const,
  script,
  options,
  name,
  note,
  keep_edits_of: keepEditsOf ?? null,
  request_hash: hashCutRequest(asset, { script, options, ...(keepEditsOf !== undefined && { keepEditsOf }) }),
  created_by: userId,
  created_at: now,
});
