/**
 * Charges for assets: a hold when the duration is known, a ledger entry when the asset becomes `ready`. Everything runs
 * inside the caller's write transaction, so two assets never spend the same credit.
 */

import { AppError, conflict } from "../../domain/errors";
import type { Ticks } from "../../domain/time";
import { TICKS_PER_SECOND } from "../../domain/time";
import {
  type Asset,
  listAssetsPendingPayment,
  listAssetsWithoutHold,
  updateAsset,
  updateAssetInState,
} from "../../store/assets";
import {
  deleteAssetHold,
  insertHold,
  insertLedgerEntry,
  type LedgerEntry,
  listAssetLedgerEntries,
  readBalance,
} from "../../store/credits";
import type { Queries } from "../../store/db";
import { addCreditsConsumed, updatePipeline, updateStepPrice } from "../../store/pipelines";
import { findLatestStep } from "../../store/steps";
import { notify } from "../notifications/notifications";
import { emitAssetEvent } from "../webhooks/events";

/** Returns the credits for a recording: every started minute counts. */
export const computeCharge = (duration: Ticks, creditsPerMinute: number): number =>
  Math.max(1, Math.ceil(duration / (60 * TICKS_PER_SECOND))) * creditsPerMinute;

/** Holds the asset's charge when the balance covers it. Returns the updated asset. */
async function tryHold(tx: Queries, asset: Asset, now: number): Promise<Asset> {
  if (asset.payment !== "none" || asset.charge === null) return asset;
  if (asset.charge === 0) return (await updateAsset(tx, asset.id, { payment: "settled" })) ?? asset;
  if ((await readBalance(tx, asset.workspace_id)) < asset.charge) return asset;
  const step = await findLatestStep(tx, asset.id);
  await insertHold(tx, {
    workspace_id: asset.workspace_id,
    // A preparation is a pipeline, so an asset always has one.
    pipeline_id: step?.pipeline_id ?? asset.id,
    asset_id: asset.id,
    amount: asset.charge,
    created_at: now,
  });
  if (step) {
    await updatePipeline(tx, step.pipeline_id, { total_credits_reserved: asset.charge });
    await updateStepPrice(tx, step.id, asset.charge);
  }
  return (await updateAsset(tx, asset.id, { payment: "held" })) ?? asset;
}

/**
 * Holds the charge of an asset whose duration has become known, unless older assets of the workspace wait for credits.
 */
export async function holdCharge(tx: Queries, asset: Asset, now: number): Promise<Asset> {
  if ((await listAssetsPendingPayment(tx, asset.workspace_id)).length > 0) return asset;
  return tryHold(tx, asset, now);
}

/** Turns the hold into a charge and makes the asset `ready`. `previousState` is the state of the last event. */
async function settleCharge(
  tx: Queries,
  asset: Asset,
  now: number,
  previousState: string = asset.state,
): Promise<void> {
  const held = await deleteAssetHold(tx, asset.id);
  if (held) {
    await insertLedgerEntry(tx, {
      workspace_id: asset.workspace_id,
      type: "consume_asset",
      delta: -(asset.charge ?? 0),
      asset_id: asset.id,
      created_at: now,
    });
    const step = await findLatestStep(tx, asset.id);
    if (step) await addCreditsConsumed(tx, step.pipeline_id, asset.charge ?? 0);
  }
  const ready = await updateAssetInState(tx, asset.id, asset.state, { state: "ready", payment: "settled" });
  if (ready) await emitAssetEvent(tx, ready, "asset.ready", now, previousState);
}

/**
 * Changes a prepared asset to `ready`, which only a source is charged for, or to `pending_payment` after the
 * workspace's other assets that wait for credits.
 */
export async function completePreparation(tx: Queries, asset: Asset, now: number): Promise<void> {
  if (asset.kind !== "source") {
    await updateAssetInState(tx, asset.id, "processing", { state: "ready", prepared_at: now });
    return;
  }
  if (asset.payment !== "none") return settleCharge(tx, asset, now);
  const waiting = await updateAssetInState(tx, asset.id, "processing", { state: "pending_payment", prepared_at: now });
  if (!waiting) return;
  const paid = await settleWaiting(tx, asset.workspace_id, now, asset.id);
  // Emitted only when the asset has to wait, not when it passed through the state within this transaction.
  if (paid.includes(asset.id)) return;
  await emitAssetEvent(tx, waiting, "asset.pending_payment", now, "processing");
  await notify(tx, {
    userId: asset.created_by,
    workspaceId: asset.workspace_id,
    type: "asset_pending_payment",
    payload: {
      asset_id: asset.id,
      asset_name: asset.name ?? asset.filename,
      project_id: asset.project_id,
      credits_required: asset.charge ?? 0,
    },
    cause: asset.id,
    now,
  });
}

/**
 * Settles the assets that are waiting for credits, oldest first, until the balance does not cover the next one. Holds
 * the rest of the balance for assets in preparation. Call it whenever a balance has grown. Returns the IDs of the
 * assets that became ready. `justPrepared`: has not been announced as waiting.
 */
export async function settleWaiting(
  tx: Queries,
  workspaceId: string,
  now: number,
  justPrepared: string | null = null,
): Promise<string[]> {
  const ready: string[] = [];
  for (const asset of await listAssetsPendingPayment(tx, workspaceId)) {
    const held = await tryHold(tx, asset, now);
    if (held.payment === "none") return ready;
    await settleCharge(tx, held, now, asset.id === justPrepared ? "processing" : "pending_payment");
    ready.push(asset.id);
  }
  // An asset in preparation can be cut as soon as its charge is held.
  for (const asset of await listAssetsWithoutHold(tx, workspaceId)) {
    if ((await tryHold(tx, asset, now)).payment === "none") break;
  }
  return ready;
}

/**
 * Releases the hold of an asset that has failed or was deleted, or removes it from the queue, and charges the assets
 * that wait.
 */
export async function releaseCharge(tx: Queries, asset: Asset, now: number): Promise<void> {
  const isReleased = await deleteAssetHold(tx, asset.id);
  if (isReleased || asset.state === "pending_payment") await settleWaiting(tx, asset.workspace_id, now);
}

/**
 * Refunds the charge of an asset, once. The asset does not change, and may have been deleted. Settles the assets that
 * wait for credits. Errors: `not_found` when the asset was not charged, `conflict` when it was refunded already.
 */
export async function refundCharge(tx: Queries, assetId: string, now: number): Promise<LedgerEntry> {
  const entries = await listAssetLedgerEntries(tx, assetId);
  const charge = entries.find((entry) => entry.type === "consume_asset");
  if (!charge) throw new AppError("not_found", `No charge for asset ${assetId} found.`);
  if (entries.some((entry) => entry.type === "refund"))
    throw conflict(`The charge for asset ${assetId} has already been refunded.`);
  const refund = await insertLedgerEntry(tx, {
    workspace_id: charge.workspace_id,
    type: "refund",
    delta: -charge.delta,
    asset_id: assetId,
    created_at: now,
  });
  await settleWaiting(tx, charge.workspace_id, now);
  return refund;
}
