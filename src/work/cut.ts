/** Cuts: asking for one, and computing it. */
import { AppError } from "../domain/errors";
import type { Job, JobContext } from "../domain/jobs";
import type { CutOptions } from "../domain/plan";
import type { AlignmentRequest } from "../domain/speech";
import { toSeconds } from "../domain/time";
import { newId, sha256 } from "../lib/ids";
import type { Asset } from "../store/assets";
import { getAsset } from "../store/assets";
import { type Cut, findIdenticalCut, getCut, insertCut, updateOpenCut } from "../store/cuts";
import type { Queries } from "../store/db";
import { touchProject } from "../store/projects";
import { endStep, findLatestStep } from "../store/steps";
import { emitCutEvent } from "./events";
import { openPlanChild } from "./job-child/plan-child";
import { startPipeline } from "./pipeline";
import { findAnalysisAudio } from "./prepared-files";
import type { Services } from "./services";
import { requireDatabaseSpace } from "./storage";

/** Whether the asset's audio is transcribed and paid for. */
export const isCuttable = (asset: Asset): boolean =>
  (asset.state === "processing" || asset.state === "ready") && asset.audio_prepared && asset.payment !== "none";

/** Throws the contract's code when the asset cannot be cut now. */
async function requireCuttable(tx: Queries, asset: Asset, now: number): Promise<void> {
  if (isCuttable(asset)) return;
  if (asset.state === "failed")
    throw new AppError("asset_failed", "The asset's preparation failed: upload the file again.");
  if (asset.state === "pending_payment" || (asset.state === "processing" && asset.audio_prepared)) {
    throw new AppError("asset_payment_required", "The asset is prepared but not paid for: add credits.");
  }
  throw new AppError("asset_processing", "The asset is still being prepared.", {
    retryAfterSeconds: await remainingSeconds(tx, asset, now),
  });
}

/** Rough time until the preparation is done, from what it has done so far: 1 to 60 s. */
async function remainingSeconds(tx: Queries, asset: Asset, now: number): Promise<number> {
  const step = await findLatestStep(tx, asset.id);
  const share = step?.progress ?? 0;
  if (!step?.started_at || share < 0.02) return 10;
  const remaining = ((now - step.started_at) * (1 - share)) / share / 1000;
  return Math.min(60, Math.max(1, Math.ceil(remaining)));
}

export type CutParams = { userId: string; asset: Asset; script: string; options: CutOptions };

/**
 * The cut that an identical request made, or a new one. Runs in a write transaction; wake the runner afterwards.
 * Errors: `asset_processing`, `asset_payment_required`, `asset_failed`, `upstream_unavailable`.
 */
export async function createCut(
  services: Services,
  tx: Queries,
  request: CutParams,
): Promise<{ cut: Cut; isNew: boolean }> {
  const { asset, options, script, userId } = request;
  const requestHash = sha256(JSON.stringify([asset.id, script, options]));
  const same = await findIdenticalCut(tx, userId, requestHash);
  if (same) return { cut: same, isNew: false };
  const now = services.now();
  await requireCuttable(tx, asset, now);
  requireDatabaseSpace(services);
  const cut = await insertCut(tx, {
    id: newId(),
    user_id: userId,
    asset_id: asset.id,
    state: "pending",
    script,
    options,
    request_hash: requestHash,
    created_at: now,
  });
  await startPipeline(tx, { userId, assetId: asset.id, name: "cut", subjectId: cut.id, now });
  await touchProject(tx, asset.project_id, now);
  return { cut, isNew: true };
}

/** The job `cut`. */
export async function computeCut(services: Services, job: Job, context: JobContext): Promise<void> {
  const started = await services.store.write(async (tx) => {
    const cut = await getCut(tx, job.subjectId);
    return cut && updateOpenCut(tx, cut.id, { state: "processing", started_at: cut.started_at ?? services.now() });
  });
  if (!started) return;
  const asset = await getAsset(services.store.read, started.asset_id);
  if (!asset) return;
  const folder = services.folders.media(asset.id);
  const audio = await findAnalysisAudio(folder);
  context.progress(0.1);
  await using child = openPlanChild(services, folder);
  const { script, options } = started;
  const input = { folder, script, options, language: asset.language };
  const plan = await child.run("plan", input, {
    signal: context.signal,
    recordingSeconds: toSeconds(asset.duration ?? 0),
    callbacks: {
      force: (requests: AlignmentRequest[], signal) =>
        services.speech.forcedAlign(audio, requests, { owner: job.userId, signal }),
    },
  });
  const now = services.now();
  await services.store.write(async (tx) => {
    if (!(await endStep(tx, job.stepId, "completed", now))) return;
    const cut = await updateOpenCut(tx, started.id, {
      state: "completed",
      plan,
      completed_at: now,
    });
    if (cut) await emitCutEvent(tx, cut, "cut.completed", now);
  });
}

/** Ends the cut as failed. */
export async function failCut(tx: Queries, cutId: string, code: string, message: string, now: number): Promise<void> {
  const cut = await updateOpenCut(tx, cutId, {
    state: "failed",
    error_code: code,
    error_message: message,
    completed_at: now,
  });
  if (cut) await emitCutEvent(tx, cut, "cut.failed", now);
}
