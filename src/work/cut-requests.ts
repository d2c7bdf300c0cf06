/** Creates cuts. The job `cut` computes them. */

import { AppError } from "../domain/errors";
import type { CutOptions } from "../domain/plan";
import { hashJson } from "../lib/hash";
import { newId } from "../lib/ids";
import type { Asset } from "../store/assets";
import { type Cut, findIdenticalCut, insertCut } from "../store/cuts";
import type { Queries } from "../store/db";
import { touchProject } from "../store/projects";
import { findLatestStep } from "../store/steps";
import type { Actor } from "./access";
import { startPipeline } from "./pipeline";
import type { Services } from "./services";
import { requireDatabaseSpace } from "./storage-limits";

/** Returns whether the asset's audio is transcribed and paid for. */
export const isCuttable = (asset: Asset): boolean =>
  (asset.state === "processing" || asset.state === "ready") && asset.audio_prepared && asset.payment !== "none";

/** Throws `AppError` `asset_failed`, `asset_payment_required` or `asset_processing` when the asset cannot be cut now. */
async function requireCuttable(tx: Queries, asset: Asset, now: number): Promise<void> {
  if (isCuttable(asset)) return;
  if (asset.state === "failed") throw new AppError("asset_failed", "Asset preparation failed. Upload the file again.");
  if (asset.state === "pending_payment" || (asset.state === "processing" && asset.audio_prepared)) {
    throw new AppError("asset_payment_required", "Asset is prepared but not paid for. Add credits.");
  }
  throw new AppError("asset_processing", "Asset is still being prepared.", {
    retryAfterSeconds: await remainingSeconds(tx, asset, now),
  });
}

/** Estimates the time until the preparation is complete from its progress, 1 to 60 s. */
async function remainingSeconds(tx: Queries, asset: Asset, now: number): Promise<number> {
  const step = await findLatestStep(tx, asset.id);
  const share = step?.progress ?? 0;
  if (!step?.started_at || share < 0.02) return 10;
  const remaining = ((now - step.started_at) * (1 - share)) / share / 1000;
  return Math.min(60, Math.max(1, Math.ceil(remaining)));
}

export type CutParams = Actor & { asset: Asset; script: string; options: CutOptions };

/**
 * Returns the cut of an identical request, or creates one. Runs in a write transaction; the caller wakes the runner afterwards.
 * Errors: `asset_processing`, `asset_payment_required`, `asset_failed`, `upstream_unavailable`.
 */
export async function createCut(
  services: Pick<Services, "disk" | "now">,
  tx: Queries,
  request: CutParams,
): Promise<{ cut: Cut; isNew: boolean }> {
  const { asset, options, script, workspaceId, userId } = request;
  const requestHash = hashJson([asset.id, script, options]);
  const same = await findIdenticalCut(tx, workspaceId, requestHash);
  if (same) return { cut: same, isNew: false };
  const now = services.now();
  await requireCuttable(tx, asset, now);
  requireDatabaseSpace(services);
  const cut = await insertCut(tx, {
    id: newId(),
    workspace_id: workspaceId,
    asset_id: asset.id,
    state: "pending",
    script,
    options,
    request_hash: requestHash,
    created_by: userId,
    created_at: now,
  });
  await startPipeline(tx, { workspaceId, userId, assetId: asset.id, name: "cut", subjectId: cut.id, now });
  await touchProject(tx, asset.project_id, now);
  return { cut, isNew: true };
}
