/** Creates and cancels renders. The job `render` renders them. */

import { moveToTrash } from "../blobs/trash";
import { AppError } from "../domain/errors";
import { type OutputRequest, resolveOutput } from "../domain/render-output";
import { hashJson } from "../lib/hash";
import { newId } from "../lib/ids";
import type { Asset } from "../store/assets";
import type { Cut } from "../store/cuts";
import type { Queries } from "../store/db";
import { touchProject } from "../store/projects";
import { findIdenticalRender, findRender, insertRender, type Render, updateOpenRender } from "../store/renders";
import { endStep, listOpenSteps } from "../store/steps";
import type { Actor } from "./access";
import { isCuttable } from "./cut-requests";
import { emitRenderEvent } from "./events";
import { startPipeline } from "./pipeline";
import type { Services } from "./services";
import { findQuotaProblem, requireFreeSpace } from "./storage-limits";

export type RenderParams = Actor & { asset: Asset; cut: Cut | null; output: OutputRequest };

/**
 * Returns the render of an identical request, or creates one. Runs in a write transaction; the caller wakes the runner afterwards.
 * Errors: `asset_not_ready`, `modifier_not_ready`, `validation_error` (against the source), `conflict` (quota), `upstream_unavailable`
 * (free space).
 */
export async function createRender(
  services: Pick<Services, "config" | "disk" | "now">,
  tx: Queries,
  ask: RenderParams,
): Promise<{ render: Render; isNew: boolean }> {
  const { asset, cut, workspaceId, userId } = ask;
  const wantsAudio =
    isAudioFormat(ask.output.format) || ((ask.output.format ?? null) === null && asset.type === "audio");
  const isReady = wantsAudio ? isCuttable(asset) : asset.state === "ready";
  if (!isReady || !asset.info) throw new AppError("asset_not_ready", "Asset is not ready to be rendered.");
  const resolved = resolveOutput({ info: asset.info, frames: null }, ask.output);
  if (!resolved.ok)
    throw new AppError("validation_error", "Output is not possible for this asset.", { fields: resolved.errors });
  if (cut && cut.state !== "completed") throw new AppError("modifier_not_ready", "Cut is not completed.");

  const requestHash = hashJson([asset.id, cut?.id ?? null, resolved.output]);
  const same = await findIdenticalRender(tx, workspaceId, requestHash);
  if (same) return { render: same, isNew: false };
  const quotaProblem = await findQuotaProblem(services, tx, workspaceId);
  if (quotaProblem) throw new AppError("conflict", quotaProblem);
  requireFreeSpace(services);
  const now = services.now();
  const render = await insertRender(tx, {
    id: newId(),
    workspace_id: workspaceId,
    asset_id: asset.id,
    cut_id: cut?.id ?? null,
    state: "pending",
    output: resolved.json,
    resolved: resolved.output,
    request_hash: requestHash,
    created_by: userId,
    created_at: now,
  });
  await startPipeline(tx, { workspaceId, userId, assetId: asset.id, name: "render", subjectId: render.id, now });
  await touchProject(tx, asset.project_id, now);
  return { render, isNew: true };
}

const isAudioFormat = (format: string | null | undefined): boolean => format === "m4a" || format === "mp3";

/** Cancels a render that has not ended. Errors: `not_found`, `conflict` on a terminal one. */
export async function cancelRender(
  services: Pick<Services, "folders" | "now" | "runner" | "store">,
  workspaceId: string,
  renderId: string,
): Promise<Render> {
  const now = services.now();
  const { render, steps } = await services.store.write(async (tx) => {
    const existing = await findRender(tx, workspaceId, renderId);
    if (!existing) throw new AppError("not_found", "Render not found.");
    const cancelled = await updateOpenRender(tx, renderId, { state: "cancelled", completed_at: now });
    if (!cancelled) throw new AppError("conflict", `Render is already ${existing.state}.`);
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
