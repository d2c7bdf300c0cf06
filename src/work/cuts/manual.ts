/** Cuts by hand: they keep the whole recording, and users remove spans with edits. No job plans them. */
import { requireFound } from "../../domain/errors";
import type { CutStepParams } from "../../domain/step-params";
import { type Asset, findAsset } from "../../store/assets";
import { type Cut, findIdenticalCut, insertCut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { deletePlannedCut } from "../../store/planned-cuts";
import { touchProject } from "../../store/projects";
import type { Actor } from "../access/access";
import { requireDatabaseSpace, requireRoomForText } from "../storage/limits";
import { readEntries } from "../vocabulary/vocabulary";
import { emitCutEvent } from "../webhooks/events";
import { type CutLabel, createCutRow, hashCutRequest, isCuttable, requireCuttable } from "./new-cuts";
import { runForAsset } from "./plan-files";
import type { PlanNeeds } from "./plan-requests";
import { summarizeCut } from "./summaries";

/** Returns whether the asset is a source whose tracks are known and that is paid for. */
const isProbed = (asset: Asset): boolean =>
  asset.kind === "source" &&
  (asset.state === "processing" || asset.state === "ready") &&
  asset.info !== null &&
  asset.payment !== "none";

/**
 * Returns the cut of an identical request, or creates one that is completed. Errors: `not_found`, `asset_failed`,
 * `asset_payment_required`, `asset_processing`, `conflict` (not a source, quota), `upstream_unavailable` (storage);
 * those of `PlanRequests`.
 */
export async function createManualCut(
  services: PlanNeeds,
  {
    assetId,
    script,
    options,
    workspaceId,
    userId,
    ...label
  }: Actor & CutStepParams & Partial<CutLabel> & { assetId: string },
): Promise<{ cut: Cut; isNew: boolean }> {
  const { store } = services;
  const findSource = async (db: Queries): Promise<{ asset: Asset; same: Cut | null }> => {
    const asset = requireFound(await findAsset(db, workspaceId, assetId), "Asset");
    return { asset, same: await findIdenticalCut(db, workspaceId, hashCutRequest(asset, { script, options })) };
  };
  const found = await findSource(store.read);
  if (found.same) return { cut: found.same, isNew: false };
  await requireCuttable(store.read, found.asset, services.now(), isProbed);
  const vocabulary = await readEntries(store.read, workspaceId, found.asset.project_id);
  const { transcript } = services.folders.media(found.asset.id);
  const plan = await runForAsset(services, found.asset, "keepAll", (paths) => ({ paths, transcript, vocabulary }));
  requireDatabaseSpace(services);
  const now = services.now();
  return store.write(async (tx) => {
    const { asset, same } = await findSource(tx);
    if (same) return { cut: same, isNew: false };
    await requireCuttable(tx, asset, now, isProbed);
    const texts = [plan, script, JSON.stringify(options), label.name, label.note];
    await requireRoomForText(services, tx, workspaceId, texts);
    // A planned cut that could not start is no longer needed.
    if (isCuttable(asset)) await deletePlannedCut(tx, asset.id);
    const row = createCutRow({ asset, script, options, ...label, userId }, now);
    const cut = await insertCut(tx, { ...row, state: "completed", plan, started_at: now, completed_at: now });
    await summarizeCut(tx, cut);
    await touchProject(tx, asset.project_id, now);
    await emitCutEvent(tx, cut, "cut.completed", now);
    return { cut, isNew: true };
  });
}
