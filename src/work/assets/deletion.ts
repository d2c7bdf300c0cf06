/**
 * Deletes assets, projects, cuts and renders with everything that depends on them. Running jobs are cancelled; files
 * are removed after the commit. Each dependent resource is deleted in its own transaction, so that a large deletion
 * does not delay other requests. After a crash in between, the resource that contains them still exists and can be
 * deleted again. While a folder is offline every deletion is refused with `upstream_unavailable`: no row is deleted
 * whose files cannot be.
 */

import { eraseFiles, moveToTrash } from "../../blobs/trash";
import { type Asset, deleteAsset, findAssetById, listProjectAssetIds } from "../../store/assets";
import { deleteCut, listAssetCutIds } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { deleteProject, touchProject } from "../../store/projects";
import { deleteWorkspaceRows, listProjectFileIds, listProjectIds } from "../../store/purge";
import { deleteRender, findRenderById, listAssetRenders, listCutRenders, type Render } from "../../store/renders";
import { deletePassages, enterBacklog } from "../../store/search";
import { listOpenSteps, markAssetDeleted } from "../../store/steps";
import { releaseCharge } from "../billing/charge";
import { deleteOutputAssets } from "../pipelines/chain-outputs";
import { endPipelineStep, type PipelineNeeds } from "../pipelines/pipelines";
import { writeUrgently } from "../storage/limits";
import { emitRenderEvent } from "../webhooks/events";

/** Work after the commit: steps to cancel, paths to remove, and assets whose partial transcripts are removed. */
type DeletionCleanup = { steps: string[]; paths: string[]; assets: string[] };

async function deleteRenderRows(
  services: PipelineNeeds,
  tx: Queries,
  renders: Render[],
  after: DeletionCleanup,
): Promise<void> {
  const now = services.now();
  const ids = renders.map(({ id }) => id);
  await endSteps(tx, ids, now, after);
  await deleteOutputAssets(tx, ids);
  for (const render of renders) {
    if (render.completed_at === null) await emitRenderEvent(tx, render, "render.cancelled", now);
    after.paths.push(services.folders.render(render.id), services.folders.work(render.id));
    await deleteRender(tx, render.id);
  }
}

async function endSteps(tx: Queries, subjectIds: string[], now: number, after: DeletionCleanup): Promise<void> {
  for (const step of await listOpenSteps(tx, subjectIds)) {
    await endPipelineStep(tx, { stepId: step.id }, { state: "cancelled", now });
    after.steps.push(step.id);
  }
}

async function deleteAssetRows(
  services: PipelineNeeds,
  tx: Queries,
  asset: Asset,
  after: DeletionCleanup,
): Promise<void> {
  await deleteRenderRows(services, tx, await listAssetRenders(tx, asset.id), after);
  const cutIds = await listAssetCutIds(tx, asset.id);
  await endSteps(tx, [asset.id, ...cutIds], services.now(), after);
  await deleteOutputAssets(tx, cutIds);
  await markAssetDeleted(tx, asset.id);
  await deleteAsset(tx, asset.id);
  await releaseCharge(tx, asset, services.now());
  after.assets.push(asset.id);
  after.paths.push(
    services.folders.media(asset.id).dir,
    services.folders.upload(asset.id),
    services.folders.work(asset.id),
    services.folders.previewWork(asset.id),
  );
}

async function cleanUp(services: PipelineNeeds, after: DeletionCleanup): Promise<void> {
  for (const step of after.steps) services.runner.cancel(step);
  // A step that waits has no job that would remove them.
  for (const id of after.assets) services.partialTranscripts.remove(id);
  await moveToTrash(services.folders, after.paths, services.now());
}

/** Called in the transaction that deletes a row, for writes that belong to it. */
type OnDelete = (tx: Queries) => Promise<void>;

/**
 * Deletes the asset, its cuts and its renders, if it exists. A deletion by the user counts as activity in the project;
 * one by the sweep, with the project or by an administrator does not.
 */
export async function removeAsset(
  services: PipelineNeeds,
  assetId: string,
  by: "user" | "sweep" | "project" | "administrator" = "user",
  onDelete: OnDelete = async () => {},
): Promise<void> {
  const { read } = services.store;
  await services.folders.guard.confirmOnline();
  // Runs before the deletion of the cuts, each of which would change the index. A deletion that fails below leaves an
  // asset that the next start makes searchable again.
  await writeUrgently(services, async (tx) => {
    await deletePassages(tx, assetId);
    await enterBacklog(tx, assetId);
  });
  for (const id of await listAssetCutIds(read, assetId)) await removeCut(services, id);
  for (const render of await listAssetRenders(read, assetId)) await removeRender(services, render);
  const after: DeletionCleanup = { steps: [], paths: [], assets: [] };
  await writeUrgently(services, async (tx) => {
    const asset = await findAssetById(tx, assetId);
    if (!asset) return;
    await onDelete(tx);
    // Includes cuts and renders that were created in the meantime.
    await deleteAssetRows(services, tx, asset, after);
    if (by === "user") await touchProject(tx, asset.project_id, services.now());
  });
  await cleanUp(services, after);
}

/** Deletes the project and everything in it. */
export async function removeProject(services: PipelineNeeds, projectId: string): Promise<void> {
  await services.folders.guard.confirmOnline();
  for (const id of await listProjectAssetIds(services.store.read, projectId))
    await removeAsset(services, id, "project");
  const after: DeletionCleanup = { steps: [], paths: [], assets: [] };
  await writeUrgently(services, async (tx) => {
    // Assets that were created in the meantime.
    for (const id of await listProjectAssetIds(tx, projectId)) {
      const asset = await findAssetById(tx, id);
      if (asset) await deleteAssetRows(services, tx, asset, after);
    }
    await deleteProject(tx, projectId);
  });
  await cleanUp(services, after);
}

/** Deletes the cut with its renders. */
export async function removeCut(services: PipelineNeeds, cutId: string): Promise<void> {
  await services.folders.guard.confirmOnline();
  for (const render of await listCutRenders(services.store.read, cutId)) await removeRender(services, render);
  const after: DeletionCleanup = { steps: [], paths: [services.folders.work(cutId)], assets: [] };
  await writeUrgently(services, async (tx) => {
    await deleteRenderRows(services, tx, await listCutRenders(tx, cutId), after);
    await endSteps(tx, [cutId], services.now(), after);
    await deleteOutputAssets(tx, [cutId]);
    await deleteCut(tx, cutId);
  });
  await cleanUp(services, after);
}

/** Deletes the render. One that is running is cancelled first. */
export async function removeRender(
  services: PipelineNeeds,
  render: Pick<Render, "id">,
  onDelete: OnDelete = async () => {},
): Promise<void> {
  await services.folders.guard.confirmOnline();
  const after: DeletionCleanup = { steps: [], paths: [], assets: [] };
  await writeUrgently(services, async (tx) => {
    // Read again: it may have ended in the meantime, which must not be cancelled.
    const current = await findRenderById(tx, render.id);
    if (!current) return;
    await onDelete(tx);
    await deleteRenderRows(services, tx, [current], after);
  });
  await cleanUp(services, after);
}

const ROWS_PER_TRANSACTION = 500;

/**
 * Deletes the projects, pipelines, events and webhook endpoints of a workspace, with their files, in pieces, so that
 * other requests do not wait. Can be repeated after a crash. `signal` stops it between two pieces. `isErased`: the
 * files are deleted at once instead of being kept in the trash. They go before the rows, so that after a crash their
 * IDs are still known.
 */
export async function removeWorkspaceContent(
  services: PipelineNeeds,
  workspaceId: string,
  signal: AbortSignal,
  { isErased = false } = {},
): Promise<void> {
  const { folders, store } = services;
  for (const id of await listProjectIds(store.read, workspaceId)) {
    signal.throwIfAborted();
    const files = new Set(isErased ? await listProjectFileIds(store.read, id) : []);
    await eraseFiles(folders, files);
    await removeProject(services, id);
    // Files of jobs that were still running.
    await eraseFiles(folders, files);
  }
  const deleteRows = () => store.write((tx) => deleteWorkspaceRows(tx, workspaceId, ROWS_PER_TRANSACTION));
  while (await deleteRows()) signal.throwIfAborted();
}
