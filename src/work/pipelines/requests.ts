/** Pipeline requests of clients: start of a chain, cancellation, and retry of a step. */
import { discard } from "../../blobs/trash";
import { AppError, conflict, moveFields, notFound, requireFound } from "../../domain/errors";
import { JOB_FACTS } from "../../domain/jobs";
import type { StepRequest } from "../../domain/step-params";
import { type Asset, findAssetById } from "../../store/assets";
import { findCut, findCutById, updateOpenCut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import {
  deleteScriptsAfter,
  findOpenStep,
  findPipeline,
  hasIncompleteStepsAfter,
  listStepsFrom,
  type Pipeline,
  startStep,
  updatePipeline,
  updateStepPrice,
} from "../../store/pipelines";
import { touchProject } from "../../store/projects";
import { findIdenticalRender, findRenderById, updateOpenRender } from "../../store/renders";
import { findStep, type Step } from "../../store/steps";
import type { Actor } from "../access/access";
import { readPrices } from "../billing/prices";
import { getStepPrice, holdStepPrices } from "../billing/step-prices";
import type { CoreNeeds } from "../needs";
import { checkOutput, foreignCutError, requireCompletedCut } from "../renders/new-renders";
import { emitCutEvent, emitRenderEvent } from "../webhooks/events";
import type { PipelineNeeds } from "./pipelines";
import {
  createSubject,
  endPipelineStep,
  readStepRequest,
  requireRoomForJob,
  type SubjectRequest,
  startChain,
  toStartedParams,
} from "./pipelines";

/**
 * Starts a chain and returns its ID. All steps are checked first, as far as is possible before earlier ones complete.
 * Errors: `validation_error` with fields of `body.steps.N.params`, `modifier_not_ready`, those of `createSubject`,
 * `insufficient_credits`.
 */
export async function createChain(
  services: CoreNeeds,
  tx: Queries,
  chain: Actor & { asset: Asset; steps: StepRequest[] },
): Promise<string> {
  const { asset, steps, workspaceId, userId } = chain;
  for (const [n, step] of steps.entries()) {
    if (step.name !== "render") continue;
    const place = `body.steps.${n}.params`;
    await requireOwnCut(tx, chain, step.params.cutId, place);
    try {
      checkOutput(asset, step.params.output);
    } catch (error) {
      throw moveFields(error, place);
    }
  }
  const now = services.now();
  const id = await startChain(services, tx, { workspaceId, userId, assetId: asset.id, now }, steps);
  await touchProject(tx, asset.project_id, now);
  return id;
}

async function requireOwnCut(
  tx: Queries,
  { asset, workspaceId }: { asset: Asset; workspaceId: string },
  cutId: string | null,
  place: string,
): Promise<void> {
  if (cutId === null) return;
  const cut = await findCut(tx, workspaceId, cutId);
  if (cut?.asset_id !== asset.id) throw foreignCutError(`${place}.cut_id`);
  requireCompletedCut(cut);
}

/**
 * Cancels a pipeline that has not ended: its render is cancelled, its cut fails. `check` runs in the transaction,
 * before the change. Errors: `not_found`, `conflict`, `upstream_unavailable` while a folder is offline, those of
 * `check`.
 */
export async function cancelPipeline(
  services: PipelineNeeds,
  workspaceId: string,
  pipelineId: string,
  check: (tx: Queries, open: Step) => Promise<void> = async () => {},
): Promise<void> {
  await services.folders.guard.confirmOnline();
  const now = services.now();
  const step = await services.store.write(async (tx) => {
    const pipeline = requireFound(await findPipeline(tx, workspaceId, pipelineId), "Pipeline");
    if (pipeline.finished_at !== null) throw conflict(`Pipeline is already ${pipeline.state}.`);
    const open = await findOpenStep(tx, pipeline.id);
    if (!open) throw new Error(`pipeline ${pipeline.id} has no open step`);
    if (JOB_FACTS[open.processor_name].startedBy === "upload")
      throw conflict("A preparation cannot be cancelled. Delete the asset instead.");
    await check(tx, open);
    await endPipelineStep(tx, { stepId: open.id }, { state: "cancelled", now });
    await cancelSubject(tx, open, now);
    await deleteScriptsAfter(tx, pipeline.id, open.step_order);
    return open;
  });
  services.runner.cancel(step.id);
  // The cleanup of a running job removes its files.
  if (step.state === "pending" && step.subject_id !== null) {
    const { folders } = services;
    await discard(folders, [folders.work(step.subject_id), folders.render(step.subject_id)]);
  }
}

async function cancelSubject(tx: Queries, step: Step, now: number): Promise<void> {
  const id = step.subject_id ?? "";
  if (JOB_FACTS[step.processor_name].subject === "cut") {
    const cut = await updateOpenCut(tx, id, {
      state: "failed",
      error_code: "cancelled",
      error_message: "Cut was cancelled.",
      completed_at: now,
    });
    if (cut) await emitCutEvent(tx, cut, "cut.failed", now);
    return;
  }
  const render = await updateOpenRender(tx, id, { state: "cancelled", completed_at: now });
  if (render) await emitRenderEvent(tx, render, "render.cancelled", now);
}

/**
 * Creates a new cut or render for a failed or cancelled step, and continues the pipeline from there. Holds the prices
 * of this step and the later ones. Errors: `not_found` (step), `conflict` (its state, a preparation, an identical
 * render, or a dependency was deleted), those of `createSubject`, `insufficient_credits`.
 */
export async function retryStep(
  services: CoreNeeds,
  tx: Queries,
  actor: Actor,
  { pipeline, stepId }: { pipeline: Pipeline; stepId: string },
): Promise<void> {
  const step = await findStep(tx, stepId);
  if (step?.pipeline_id !== pipeline.id) throw notFound("Step");
  if (JOB_FACTS[step.processor_name].startedBy === "upload")
    throw conflict("A preparation cannot be retried. Upload the file again.");
  if (step.state !== "failed" && step.state !== "cancelled")
    throw conflict(`Step is ${step.state}. Only a failed or cancelled step can be retried.`);
  const { workspaceId, userId } = actor;
  await requireRoomForJob(tx, workspaceId);
  const isChain = pipeline.is_chain;
  if (isChain && (await hasIncompleteStepsAfter(tx, pipeline.id, step.step_order)))
    throw conflict("Scripts of later steps were deleted on cancellation. Start a new pipeline.");
  await requireNoOtherRender(tx, step);
  const create = async () => {
    const assetId = requireFound(step.input_asset_id, "Asset");
    const request = await getRetryRequest(tx, step);
    return createSubject(services, tx, { workspaceId, userId, assetId, isChain, request });
  };
  const subjectId = await create().catch((error) => {
    // The requested resource exists, but one of its dependencies was deleted.
    const isGone = error instanceof AppError && error.code === "not_found";
    throw isGone ? conflict(`${error.message} Start a new pipeline.`) : error;
  });
  const now = services.now();
  const prices = await readPrices(services.config, tx);
  let total = 0;
  for (const { id, processor_name: name } of await listStepsFrom(tx, pipeline.id, step.step_order)) {
    const price = getStepPrice(prices, name);
    total += price;
    await updateStepPrice(tx, id, price);
  }
  await holdStepPrices(tx, { id: pipeline.id, workspaceId }, total, now);
  await startStep(tx, step.id, { subjectId, params: toStartedParams(step), now });
  const asset = step.input_asset_id === null ? null : await findAssetById(tx, step.input_asset_id);
  if (asset) await touchProject(tx, asset.project_id, now);
  await updatePipeline(tx, pipeline.id, {
    state: "pending",
    finished_at: null,
    total_credits_reserved: pipeline.total_credits_consumed + total,
  });
}

/** Throws `AppError` `conflict` if the render of a step was requested again since, and is open or completed. */
async function requireNoOtherRender(tx: Queries, { subject_id: id, workspace_id: workspaceId }: Step): Promise<void> {
  const hash = id === null ? null : ((await findRenderById(tx, id))?.request_hash ?? null);
  const same = hash === null ? null : await findIdenticalRender(tx, workspaceId, hash);
  if (same === null) return;
  throw conflict(`An identical render is ${same.state === "completed" ? "already completed" : "waiting or running"}.`);
}

/**
 * Returns the request to repeat. The request of one cut or render is read from that. Throws `AppError` `conflict` if it
 * was deleted.
 */
async function getRetryRequest(tx: Queries, step: Step): Promise<SubjectRequest["request"]> {
  if (step.params !== null) return readStepRequest(tx, step);
  const { subject_id: id } = step;
  if (JOB_FACTS[step.processor_name].subject === "cut") {
    const cut = id === null ? null : await findCutById(tx, id);
    if (cut) return { name: "cut", params: { script: cut.script, options: cut.options }, precedingCutId: null };
  } else {
    const render = id === null ? null : await findRenderById(tx, id);
    if (render) {
      const { output, resolved, cut_id: cutId } = render;
      const params = { cutId, output };
      return { name: "render", params, precedingCutId: null, checked: { json: output, resolved } };
    }
  }
  throw conflict(`The ${step.processor_name} was deleted. Start a new pipeline.`);
}
