/**
 * Cuts after upload: planned with a recording's upload or while it is prepared, and started as soon as it can be cut. A
 * planned cut is deleted in the transaction that creates the cut, so that it starts once, also after a crash.
 */
import { AppError, conflict } from "../../domain/errors";
import { CUT_MODES, type CutMode } from "../../domain/plan";
import { createPoller, type Poller } from "../../lib/poller";
import { type Asset, findAssetById } from "../../store/assets";
import type { Queries } from "../../store/db";
import {
  deletePlannedCut,
  findNextRetry,
  findPlannedCut,
  listDuePlannedCuts,
  type PlannedCut,
  postponePlannedCut,
  putPlannedCut,
} from "../../store/planned-cuts";
import type { Actor } from "../access/access";
import type { CoreNeeds } from "../needs";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { requireRoomForText } from "../storage/limits";
import { isCuttable } from "./new-cuts";
import { createCut } from "./requests";

/** `mode` null: the recording is not cut after the upload. */
export type CutPlan = { mode: CutMode | null; script: string };

/**
 * Changes the cut that starts when the asset is ready to cut. Returns it, null without one. Errors: `conflict` (not a
 * source, failed, ready to cut without a planned cut, quota).
 */
export async function planCut(
  services: CoreNeeds,
  tx: Queries,
  { userId }: Actor,
  asset: Asset,
  { mode, script }: CutPlan,
): Promise<PlannedCut | null> {
  const planned = await findPlannedCut(tx, asset.id);
  // One that could not start yet can be changed and removed.
  if (planned === null) requireUnprepared(asset);
  if (mode === null) {
    await deletePlannedCut(tx, asset.id);
    return null;
  }
  await requireRoomForText(services, tx, asset.workspace_id, [script], [planned?.script]);
  const { id: asset_id, workspace_id } = asset;
  return putPlannedCut(tx, { asset_id, workspace_id, mode, script, created_by: userId });
}

/** Throws `AppError` `conflict` if a cut of the asset can be made now, or never. */
function requireUnprepared(asset: Asset): void {
  if (asset.kind !== "source") throw conflict(`Asset is a ${asset.kind}. Only sources can be cut.`);
  if (asset.state === "failed") throw conflict("Asset preparation failed. Upload the file again.");
  if (isCuttable(asset)) throw conflict("Asset is ready to cut. Create a cut instead.");
}

const MAX_PER_POLL = 50;
/** Time after which a cut that could not start, for lack of credits or storage, is tried again. */
const RETRY_MS = 60_000;

/** Creates the poller that starts planned cuts. Wake it after each commit. */
export function createPlannedCutStarter(services: PipelineNeeds): Poller {
  const { store, log, now } = services;

  async function poll(): Promise<number | null> {
    const due = await listDuePlannedCuts(store.read, now(), MAX_PER_POLL);
    for (const { asset_id: assetId } of due) await startPlannedCut(services, assetId);
    if (due.length === MAX_PER_POLL) return 0;
    const retryAt = await findNextRetry(store.read);
    return retryAt === null ? null : Math.max(1_000, retryAt - now());
  }

  return createPoller(poll, (error) => log.error("planned_cut.start_failed", { error }));
}

/** Creates the planned cut of an asset. If it cannot start, stores why, and when to try again. */
async function startPlannedCut(services: PipelineNeeds, assetId: string): Promise<void> {
  const { store, now, runner, log } = services;
  try {
    const cut = await store.write(async (tx) => {
      const planned = await findPlannedCut(tx, assetId);
      const asset = planned && (await findAssetById(tx, assetId));
      if (!asset || !isCuttable(asset)) return null;
      // Its script is counted as storage of the cut from here on.
      await deletePlannedCut(tx, assetId);
      const { created_by: userId, script, mode } = planned;
      return createCut(services, tx, {
        ...{ asset, workspaceId: asset.workspace_id, userId },
        ...{ script, options: CUT_MODES[mode] },
      });
    });
    if (cut === null) return;
    log.info("planned_cut.started", { asset: assetId, cut: cut.cut.id });
    runner.wake();
  } catch (error) {
    // An unexpected error must not keep the planned cuts of others from starting.
    const isKnown = error instanceof AppError;
    if (isKnown) log.info("planned_cut.postponed", { asset: assetId, code: error.code });
    else log.error("planned_cut.start_failed", { asset: assetId, error });
    const error_message = isKnown ? error.message : "Internal error. Details are in the server log.";
    await store.write((tx) => postponePlannedCut(tx, assetId, { error_message, retry_at: now() + RETRY_MS }));
  }
}
