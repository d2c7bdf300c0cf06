/** Notifies the user who started a pipeline of its end. */
import { JOB_FACTS } from "../../domain/jobs";
import { findAssetById } from "../../store/assets";
import type { Queries } from "../../store/db";
import { listSteps, type Pipeline } from "../../store/pipelines";
import { notify } from "../notifications/notifications";

/** The failure of a pipeline. `name`: the processor of the step. */
export type PipelineFailure = { name: string; code: string; message: string };

/**
 * Notifies of a failure, and of the completion of cuts and renders, but not of previews. `failure` null: the pipeline
 * has completed.
 */
export async function notifyOfEnd(tx: Queries, pipeline: Pipeline, failure: PipelineFailure | null): Promise<void> {
  const steps = (await listSteps(tx, [pipeline.id])).get(pipeline.id) ?? [];
  // The user did not start it, and nothing is lost: it is created again when the asset is next opened.
  if (steps.some((step) => JOB_FACTS[step.processor_name].startedBy === "server")) return;
  if (failure === null && steps.some((step) => JOB_FACTS[step.processor_name].startedBy === "upload")) return;
  const asset = pipeline.input_asset_id === null ? null : await findAssetById(tx, pipeline.input_asset_id);
  const notice = {
    pipeline_id: pipeline.id,
    asset_id: pipeline.input_asset_id,
    asset_name: asset?.name ?? asset?.filename ?? null,
    project_id: asset?.project_id ?? null,
    steps: steps.map((step) => step.processor_name),
  };
  const now = pipeline.finished_at ?? 0;
  const request = {
    userId: pipeline.created_by,
    workspaceId: pipeline.workspace_id,
    // A retried pipeline ends again.
    cause: `${pipeline.id}/${now}`,
    now,
  };
  if (failure === null) {
    await notify(tx, { ...request, type: "pipeline_completed", payload: notice, tookMs: now - pipeline.created_at });
    return;
  }
  const { name, code, message } = failure;
  const payload = { ...notice, failed_step: name, error_code: code, error_message: message };
  await notify(tx, { ...request, type: "pipeline_failed", payload });
}
