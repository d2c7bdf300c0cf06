/** Renders: asking for one, computing it, cancelling it. */
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { moveToTrash } from "../blobs/trash";
import { AppError } from "../domain/errors";
import type { Job, JobContext } from "../domain/jobs";
import { JobAborted, JobYielded } from "../domain/jobs";
import { type OutputRequest, resolveOutput } from "../domain/render-output";
import { toSeconds } from "../domain/time";
import { newId, sha256 } from "../lib/ids";
import { RenderYielded } from "../media/parallel";
import { type Asset, getAsset } from "../store/assets";
import { type Cut, getCut } from "../store/cuts";
import type { Queries } from "../store/db";
import { touchProject } from "../store/projects";
import {
  findIdenticalRender,
  findRender,
  getRender,
  insertRender,
  isOpenRender,
  type Render,
  updateOpenRender,
} from "../store/renders";
import { endStep, listOpenSteps } from "../store/steps";
import { isCuttable } from "./cut";
import { emitRenderEvent } from "./events";
import { openJobChild } from "./job-child/child";
import { maxMediaMemoryBytes } from "./job-child/limits";
import { commitFile } from "./job-child/scratch";
import { shareSemaphore } from "./job-child/shared-semaphore";
import { startPipeline } from "./pipeline";
import { removePartFiles } from "./prepared-size";
import type { Services } from "./services";
import { findQuotaProblem, requireFreeSpace } from "./storage";

export type RenderParams = { userId: string; asset: Asset; cut: Cut | null; output: OutputRequest };

/**
 * The render that an identical request made, or a new one. Runs in a write transaction; wake the runner afterwards.
 * Errors: `asset_not_ready`, `modifier_not_ready`, `validation_error` (against the source), `conflict` (quota), `upstream_unavailable`
 * (free space).
 */
export async function createRender(
  services: Services,
  tx: Queries,
  ask: RenderParams,
): Promise<{ render: Render; isNew: boolean }> {
  const { asset, cut, userId } = ask;
  const wantsAudio =
    isAudioFormat(ask.output.format) || ((ask.output.format ?? null) === null && asset.type === "audio");
  const isReady = wantsAudio ? isCuttable(asset) : asset.state === "ready";
  if (!isReady || !asset.info) throw new AppError("asset_not_ready", "The asset is not ready to be rendered.");
  const resolved = resolveOutput({ info: asset.info, frames: null }, ask.output);
  if (!resolved.ok)
    throw new AppError("validation_error", "The output does not fit the asset.", { fields: resolved.errors });
  if (cut && cut.state !== "completed") throw new AppError("modifier_not_ready", "The cut is not completed.");

  const requestHash = sha256(JSON.stringify([asset.id, cut?.id ?? null, resolved.output]));
  const same = await findIdenticalRender(tx, userId, requestHash);
  if (same) return { render: same, isNew: false };
  const quotaProblem = await findQuotaProblem(services, tx, userId);
  if (quotaProblem) throw new AppError("conflict", quotaProblem);
  requireFreeSpace(services);
  const now = services.now();
  const render = await insertRender(tx, {
    id: newId(),
    user_id: userId,
    asset_id: asset.id,
    cut_id: cut?.id ?? null,
    state: "pending",
    output: resolved.shown,
    resolved: resolved.output,
    request_hash: requestHash,
    created_at: now,
  });
  await startPipeline(tx, { userId, assetId: asset.id, name: "render", subjectId: render.id, now });
  await touchProject(tx, asset.project_id, now);
  return { render, isNew: true };
}

const isAudioFormat = (format: string | null | undefined): boolean => format === "m4a" || format === "mp3";

/** The job `render`. */
export async function computeRender(services: Services, job: Job, context: JobContext): Promise<void> {
  const render = await services.store.write(async (tx) => {
    const row = await getRender(tx, job.subjectId);
    return row && updateOpenRender(tx, row.id, { state: "processing", started_at: row.started_at ?? services.now() });
  });
  if (!render) return;
  const { folders } = services;
  const folder = folders.media(render.asset_id);
  const asset = await getAsset(services.store.read, render.asset_id);
  if (!asset) throw new Error("the asset has gone");
  const outputPath = folders.renderOutput(render.id, render.resolved.format);
  const workDir = folders.work(render.id);
  const madePath = join(workDir, basename(outputPath));
  await mkdir(folders.render(render.id), { recursive: true });
  await mkdir(workDir, { recursive: true });
  await removePartFiles(folders.render(render.id));
  const plan = await planOf(services, render.cut_id);
  const encoder = await services.encoder();
  await using child = openJobChild({
    command: services.jobCommand,
    sandbox: services.sandbox,
    view: { readOnly: [folder.dir], writable: [workDir], devices: true },
    limitCode: "processing_failed",
    maxMemoryBytes: maxMediaMemoryBytes(Bun.file(folder.source).size),
    maxFileBytes: services.disk.maxFileBytes(),
  });
  const lent = shareSemaphore(services.encoderSemaphore);
  const input = {
    ...{ ffmpeg: services.ffmpeg, source: folder.source, probed: folder.probed, plan, output: render.resolved },
    ...{ workDir, outputPath: madePath, encoder, jobs: Math.max(1, navigator.hardwareConcurrency) },
  };
  const running = child.run("render", input, {
    signal: context.signal,
    recordingSeconds: toSeconds(asset.duration ?? 0),
    shouldYield: context.shouldYield,
    callbacks: lent.callbacks,
    onProgress: (share) => context.progress(share),
    onLog: (event, fields) => services.log.info(event, { render: render.id, ...fields }),
  });
  const result = await running.finally(lent.releaseAll).catch(async (error) => {
    // A cancelled render leaves nothing; one that is to go on keeps its finished chunks. It may be cancelled just as it gives way.
    const isCancelled = context.signal.aborted && (context.signal.reason as JobAborted).reason === "cancelled";
    const current = error instanceof RenderYielded ? await getRender(services.store.read, render.id) : render;
    const isOver = current === null || !isOpenRender(current);
    if (isCancelled || isOver) await moveToTrash(folders, [workDir, folders.render(render.id)]);
    throw error instanceof RenderYielded ? new JobYielded() : error;
  });
  await child.end();
  // The render may have been deleted in the meantime; what is taken over is then removed below.
  await mkdir(folders.render(render.id), { recursive: true });
  const sizeBytes = await commitFile(madePath, outputPath);
  const { strategy, encodedShare, reasons, warnings } = result;
  services.log.info("render.made", { render: render.id, strategy, encoded_share: encodedShare, reasons, warnings });
  const now = services.now();
  const stored = await services.store.write(async (tx) => {
    if (!(await endStep(tx, job.stepId, "completed", now))) return false;
    const done = await updateOpenRender(tx, render.id, {
      state: "completed",
      size_bytes: sizeBytes,
      strategy: result.strategy,
      encoded_share: result.encodedShare,
      strategy_reasons: result.reasons,
      warnings: result.warnings,
      completed_at: now,
    });
    if (done) await emitRenderEvent(tx, done, "render.completed", now);
    return done !== null;
  });
  await moveToTrash(folders, stored ? [workDir] : [workDir, folders.render(render.id)]);
}

/** The plan of a completed cut as JSON; null for no cut. */
async function planOf(services: Services, cutId: string | null): Promise<string | null> {
  if (!cutId) return null;
  const cut = await getCut(services.store.read, cutId);
  if (!cut?.plan) throw new JobAborted("cancelled");
  return cut.plan;
}

/** Ends the render as failed and takes its partial files away with the trash. */
export async function failRender(
  tx: Queries,
  renderId: string,
  code: string,
  message: string,
  now: number,
): Promise<void> {
  const render = await updateOpenRender(tx, renderId, {
    state: "failed",
    error_code: code,
    error_message: message,
    completed_at: now,
  });
  if (render) await emitRenderEvent(tx, render, "render.failed", now);
}

/** Cancels a render that has not ended. Errors: `not_found`, `conflict` on a terminal one. */
export async function cancelRender(services: Services, userId: string, renderId: string): Promise<Render> {
  const now = services.now();
  const { render, steps } = await services.store.write(async (tx) => {
    const existing = await findRender(tx, userId, renderId);
    if (!existing) throw new AppError("not_found", "There is no such render.");
    const cancelled = await updateOpenRender(tx, renderId, { state: "cancelled", completed_at: now });
    if (!cancelled) throw new AppError("conflict", `The render is ${existing.state} already.`);
    const open = await listOpenSteps(tx, [renderId]);
    for (const step of open) await endStep(tx, step.id, "cancelled", now);
    await emitRenderEvent(tx, cancelled, "render.cancelled", now);
    return { render: cancelled, steps: open };
  });
  for (const step of steps) services.runner.cancel(step.id);
  if (steps.every((step) => step.state === "pending")) {
    await moveToTrash(services.folders, [services.folders.work(renderId), services.folders.render(renderId)]);
  }
  return render;
}
