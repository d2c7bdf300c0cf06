/** Creates and cancels renders. The job `render` processes them. */
import { discard } from "../../blobs/trash";
import { conflict, requireFound } from "../../domain/errors";
import type { OutputRequest } from "../../domain/render-output";
import type { Asset } from "../../store/assets";
import type { Cut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { touchProject } from "../../store/projects";
import { findIdenticalRender, findRender, type Render, updateOpenRender } from "../../store/renders";
import { listOpenSteps } from "../../store/steps";
import type { Actor } from "../access/access";
import type { CoreNeeds } from "../needs";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { endPipelineStep, startPipeline } from "../pipelines/pipelines";
import { emitRenderEvent } from "../webhooks/events";
import { checkOutput, hashRenderRequest, insertNewRender, requireCompletedCut } from "./new-renders";

export type RenderParams = Actor & { asset: Asset; cut: Cut | null; output: OutputRequest };

/**
 * Returns the render of an identical request, or creates one. Runs in a write transaction; the caller wakes the runner
 * afterwards. Errors: those of `checkOutput`, `requireCompletedCut` and `insertNewRender`, `insufficient_credits`.
 */
export async function createRender(services: CoreNeeds, tx: Queries, ask: RenderParams) {
  const { asset, cut, workspaceId, userId } = ask;
  const output = checkOutput(asset, ask.output);
  requireCompletedCut(cut);
  const same = await findIdenticalRender(tx, workspaceId, hashRenderRequest(asset, cut, output));
  if (same) return { render: same, isNew: false };
  const render = await insertNewRender(services, tx, { asset, cut, output, userId });
  const now = services.now();
  const assetId = asset.id;
  await startPipeline(services, tx, { workspaceId, userId, assetId, name: "render", subjectId: render.id, now });
  await touchProject(tx, asset.project_id, now);
  return { render, isNew: true };
}

/**
 * Cancels a render that has not ended. Errors: `not_found`, `conflict` on a terminal one, `upstream_unavailable` while
 * a folder is offline.
 */
export async function cancelRender(services: PipelineNeeds, workspaceId: string, renderId: string): Promise<Render> {
  await services.folders.guard.confirmOnline();
  const now = services.now();
  const { render, steps } = await services.store.write(async (tx) => {
    const existing = requireFound(await findRender(tx, workspaceId, renderId), "Render");
    const cancelled = await updateOpenRender(tx, renderId, { state: "cancelled", completed_at: now });
    if (!cancelled) throw conflict(`Render is already ${existing.state}.`);
    const open = await listOpenSteps(tx, [renderId]);
    for (const step of open) await endPipelineStep(tx, { stepId: step.id }, { state: "cancelled", now });
    await emitRenderEvent(tx, cancelled, "render.cancelled", now);
    return { render: cancelled, steps: open };
  });
  for (const step of steps) services.runner.cancel(step.id);
  if (steps.every((step) => step.state === "pending")) {
    await discard(services.folders, [services.folders.work(renderId), services.folders.render(renderId)]);
  }
  return render;
}
