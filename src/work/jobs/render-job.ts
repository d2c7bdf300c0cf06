/** The job `render`: rows in, rows out. */
import { discard } from "../../blobs/trash";
import { AppError } from "../../domain/errors";
import { findAssetById, updateAsset } from "../../store/assets";
import { findCutById } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { findRenderById, updateOpenRender } from "../../store/renders";
import { readStorageUsed } from "../../store/storage";
import type { ConfigNeeds, CoreNeeds } from "../needs";
import { findQuotaProblem, readStorageQuota } from "../storage/limits";
import { emitRenderEvent } from "../webhooks/events";
import { findBlob, getBlob } from "./blob-files";
import type { JobDefinition, LoadedJob } from "./definition";
import { type RenderInput, type RenderOutput, runRender } from "./render-run";

/** Maximum size of a recording's cache, as shares of its source and of the free quota, and in bytes. */
const MAX_SOURCE_SHARE = 1 / 2;
const MAX_QUOTA_SHARE = 1 / 4;
const MAX_CACHE_BYTES = 512 * 1024 ** 2;

/** Reads the inputs of a render. Returns null if the render or its cut was deleted. */
export async function loadRender(
  { store, folders }: CoreNeeds,
  renderId: string,
): Promise<LoadedJob<RenderInput> | null> {
  const render = await findRenderById(store.read, renderId);
  const asset = render && (await findAssetById(store.read, render.asset_id));
  if (!render || !asset) return null;
  const cut = render.cut_id === null ? null : await findCutById(store.read, render.cut_id);
  const plan = cut?.plan ?? null;
  // The cut was deleted, and this render with it.
  if (render.cut_id !== null && plan === null) return null;
  const folder = folders.media(asset.id);
  const input: RenderInput = {
    blobs: {
      source: await getBlob(folder.source),
      probed: await getBlob(folder.probed),
      speechAnalysis: render.resolved.audio?.noiseReduction ? await findBlob(folder.speechAnalysis) : null,
    },
    plan,
    output: render.resolved,
    duration: asset.duration ?? 0,
  };
  return { input, inputDir: folder.dir, outputDir: folders.render(render.id) };
}

export const renderJob: JobDefinition<RenderInput, never, RenderOutput> = {
  whenDiskIsFull: "fail",
  begin: async (tx, { job, now, config }) => {
    // Many renders may have been created below the quota: each is checked again before it starts.
    const problem = await findQuotaProblem({ config }, tx, job.workspaceId);
    if (problem) throw new AppError("storage_full", problem);
    const render = await findRenderById(tx, job.subjectId);
    if (!render) return false;
    return (
      (await updateOpenRender(tx, render.id, { state: "processing", started_at: render.started_at ?? now })) !== null
    );
  },
  load: async (services, job) => {
    const { folders, store } = services;
    const loaded = await loadRender(services, job.subjectId);
    const render = loaded && (await findRenderById(store.read, job.subjectId));
    if (!render) return loaded;
    const { renderCache: path } = folders.media(render.asset_id);
    const { workspaceId } = job;
    const { bytes: sourceBytes } = loaded.input.blobs.source;
    const maxBytes = await chooseMaxCacheBytes(services, store.read, { workspaceId, path, sourceBytes });
    return { ...loaded, renderCache: { path, maxBytes } };
  },
  run: runRender,
  settle: async (tx, output, { job, now }) => {
    const render = await updateOpenRender(tx, job.subjectId, {
      state: "completed",
      size_bytes: output.blobs[0]!.bytes,
      strategy: output.strategy,
      encoded_share: output.encodedShare,
      made_with: output.madeWith ?? null,
      strategy_reasons: output.reasons,
      warnings: output.warnings,
      completed_at: now,
    });
    if (!render) return;
    if (output.derivedBytes !== undefined)
      await updateAsset(tx, render.asset_id, { derived_bytes: output.derivedBytes });
    await emitRenderEvent(tx, render, "render.completed", now);
  },
  fail: async (tx, { code, message }, { job, now }) => {
    const render = await updateOpenRender(tx, job.subjectId, {
      state: "failed",
      error_code: code,
      error_message: message,
      completed_at: now,
    });
    if (render) await emitRenderEvent(tx, render, "render.failed", now);
  },
  cleanup: async ({ folders }, { subjectId }, end) => {
    const work = folders.work(subjectId);
    await discard(folders, end === "completed" ? [work] : [work, folders.render(subjectId)]);
  },
};

/** Returns the maximum size of a recording's cache in bytes, which does not exhaust the workspace's quota. */
async function chooseMaxCacheBytes(
  services: ConfigNeeds,
  db: Queries,
  { workspaceId, path, sourceBytes }: { workspaceId: string; path: string; sourceBytes: number },
): Promise<number> {
  const maxBytes = Math.min(MAX_CACHE_BYTES, sourceBytes * MAX_SOURCE_SHARE);
  const quota = await readStorageQuota(services, db, workspaceId);
  if (quota === null) return maxBytes;
  const current = (await findBlob(path))?.bytes ?? 0;
  const free = quota - (await readStorageUsed(db, workspaceId)) + current;
  return Math.max(0, Math.min(maxBytes, free * MAX_QUOTA_SHARE));
}
