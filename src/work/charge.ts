/**
 * What an asset costs and how it is paid: a hold as soon as the duration is known, the ledger entry together with `ready`.
 * Everything here runs inside the caller's write transaction, so two assets can never spend the same credit.
 */

import { AppError } from "../domain/errors";
import type { Ticks } from "../domain/time";
import { TICKS_PER_SECOND } from "../domain/time";
import { newId } from "../lib/ids";
import {
  type Asset,
  listAssetsPendingPayment,
  listAssetsWithoutHold,
  updateAsset,
  updateAssetInState,
} from "../store/assets";
import {
  deleteAssetHold,
  insertHold,
  insertLedgerEntry,
  type LedgerEntry,
  listAssetLedgerEntries,
  readBalance,
} from "../store/credits";
import type { Queries } from "../store/db";
import { findLatestStep } from "../store/steps";
import { emitAssetEvent } from "./events";

/** Credits for a recording: each started minute counts. */
export const computeCharge = (duration: Ticks, creditsPerMinute: number): number =>
  Math.max(1, Math.ceil(duration / (60 * TICKS_PER_SECOND))) * creditsPerMinute;

/** Holds the asset's charge when the balance covers it. Gives the asset as it is then. */
async function tryHold(tx: Queries, asset: Asset, now: number): Promise<Asset> {
  if (asset.payment !== "none" || asset.charge === null) return asset;
  if (asset.charge === 0) return (await updateAsset(tx, asset.id, { payment: "settled" })) ?? asset;
  if ((await readBalance(tx, asset.user_id)) < asset.charge) return asset;
  const step = await findLatestStep(tx, asset.id);
  await insertHold(tx, {
    id: newId(),
    user_id: asset.user_id,
    // A preparation is a pipeline; an asset always has one.
    pipeline_id: step?.pipeline_id ?? asset.id,
    asset_id: asset.id,
    amount: asset.charge,
    created_at: now,
  });
  return (await updateAsset(tx, asset.id, { payment: "held" })) ?? asset;
}

/** Called when the duration is known: holds the charge, unless older assets still wait for theirs. */
export async function holdCharge(tx: Queries, asset: Asset, now: number): Promise<Asset> {
  if ((await listAssetsPendingPayment(tx, asset.user_id)).length > 0) return asset;
  return tryHold(tx, asset, now);
}

/** Turns the hold into the charge and makes the asset `ready`. `previousState` is the one that was told last. */
async function settleCharge(
  tx: Queries,
  asset: Asset,
  now: number,
  previousState: string = asset.state,
): Promise<void> {
  const held = await deleteAssetHold(tx, asset.id);
  if (held) {
    await insertLedgerEntry(tx, {
      id: newId(),
      user_id: asset.user_id,
      type: "consume_asset",
      delta: -(asset.charge ?? 0),
      asset_id: asset.id,
      created_at: now,
    });
  }
  const ready = await updateAssetInState(tx, asset.id, asset.state, { state: "ready", payment: "settled" });
  if (ready) await emitAssetEvent(tx, ready, "asset.ready", now, previousState);
}

/** Called when the preparation is done: the asset becomes `ready`, or waits for credits behind those that wait already. */
export async function completePreparation(tx: Queries, asset: Asset, now: number): Promise<void> {
  if (asset.payment !== "none") return settleCharge(tx, asset, now);
  const waiting = await updateAssetInState(tx, asset.id, "processing", { state: "pending_payment", prepared_at: now });
  if (!waiting) return;
  const paid = await settleWaiting(tx, asset.user_id, now, asset.id);
  // Told only when it really has to wait; otherwise it went through this state unseen.
  if (!paid.includes(asset.id)) await emitAssetEvent(tx, waiting, "asset.pending_payment", now, "processing");
}

/**
 * Called whenever a balance has risen: settles the assets that wait, oldest first; the first that does not fit waits, and those
 * behind it too. What is left is held for those in preparation. Gives the ids of the assets that became ready. `justPrepared` has not been told to wait yet.
 */
export async function settleWaiting(
  tx: Queries,
  userId: string,
  now: number,
  justPrepared: string | null = null,
): Promise<string[]> {
  const ready: string[] = [];
  for (const asset of await listAssetsPendingPayment(tx, userId)) {
    const held = await tryHold(tx, asset, now);
    if (held.payment === "none") return ready;
    await settleCharge(tx, held, now, asset.id === justPrepared ? "processing" : "pending_payment");
    ready.push(asset.id);
  }
  // What is still being prepared can be cut as soon as it is paid for.
  for (const asset of await listAssetsWithoutHold(tx, userId)) {
    if ((await tryHold(tx, asset, now)).payment === "none") break;
  }
  return ready;
}

/** Gives the hold of an asset that has failed or is gone, or its place in the queue, to those that wait. */
export async function releaseCharge(tx: Queries, asset: Asset, now: number): Promise<void> {
  const isReleased = await deleteAssetHold(tx, asset.id);
  if (isReleased || asset.state === "pending_payment") await settleWaiting(tx, asset.user_id, now);
}

/**
 * Gives the charge of an asset back, once; the asset stays as it is, and may have been deleted since. Assets that wait for credits
 * become ready. Errors: `not_found` when nothing was charged for it, `conflict` when it has been given back already.
 */
export async function refundCharge(tx: Queries, assetId: string, now: number): Promise<LedgerEntry> {
  const entries = await listAssetLedgerEntries(tx, assetId);
  const charge = entries.find((entry) => entry.type === "consume_asset");
  if (!charge) throw new AppError("not_found", `Nothing was charged for an asset ${assetId}.`);
  if (entries.some((entry) => entry.type === "refund"))
    throw new AppError("conflict", `The charge of asset ${assetId} has been given back already.`);
  const refund = await insertLedgerEntry(tx, {
    ...{ id: newId(), user_id: charge.user_id, type: "refund", delta: -charge.delta },
    ...{ asset_id: assetId, created_at: now },
  });
  await settleWaiting(tx, charge.user_id, now);
  return refund;
}
