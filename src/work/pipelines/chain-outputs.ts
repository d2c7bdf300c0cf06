/**
 * Registers the outputs of a chain as assets: they refer to the cut or render, have no file of their own and are
 * deleted with it.
 */
import { JOB_FACTS } from "../../domain/jobs";
import { OUTPUT_CONTENT_TYPES } from "../../domain/render-output";
import { fromSeconds } from "../../domain/time";
import { deleteAsset, findAssetById, insertAsset, listOutputAssetIds, type NewAsset } from "../../store/assets";
import { readPlanFacts } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { type Pipeline, updateStepOutput } from "../../store/pipelines";
import { findRenderById } from "../../store/renders";
import { markAssetDeleted, type Step } from "../../store/steps";

export async function registerOutput(tx: Queries, pipeline: Pipeline, step: Step, now: number): Promise<void> {
  const source = pipeline.input_asset_id === null ? null : await findAssetById(tx, pipeline.input_asset_id);
  const output = step.subject_id === null ? null : await describeOutput(tx, step, step.subject_id);
  if (source === null || output === null) return;
  const { extension, isCut, ...row } = output;
  const stem = source.filename?.replace(/\.[^.]*$/, "") || "asset";
  const asset = await insertAsset(tx, {
    ...row,
    workspace_id: source.workspace_id,
    project_id: source.project_id,
    state: "ready",
    extension,
    filename: `${stem}${isCut ? ".cut" : ""}.${extension}`,
    duration: row.duration ?? source.duration,
    upload_active_at: now,
    payment: "none",
    created_by: pipeline.created_by,
    created_at: now,
    prepared_at: now,
  });
  await updateStepOutput(tx, step.id, asset.id);
}

type OutputFacts = Pick<
  NewAsset,
  "kind" | "type" | "content_type" | "duration" | "upload_length" | "cut_id" | "render_id"
> & {
  extension: string;
  isCut: boolean;
};

/** `duration` null: the source's. Returns null for a subject that does not exist. */
async function describeOutput(tx: Queries, step: Step, subjectId: string): Promise<OutputFacts | null> {
  if (JOB_FACTS[step.processor_name].subject === "cut") {
    const plan = await readPlanFacts(tx, subjectId);
    if (plan === null) return null;
    return {
      kind: "cut_file",
      content_type: "application/json",
      extension: "json",
      isCut: true,
      upload_length: plan.bytes,
      duration: fromSeconds(plan.keptSeconds),
      cut_id: subjectId,
    };
  }
  const render = await findRenderById(tx, subjectId);
  if (render === null || render.size_bytes === null) return null;
  const { format } = render.resolved;
  const plan = render.cut_id === null ? null : await readPlanFacts(tx, render.cut_id);
  return {
    kind: "rendered_video",
    type: format === "m4a" || format === "mp3" ? "audio" : "video",
    content_type: OUTPUT_CONTENT_TYPES[format],
    extension: format,
    isCut: render.cut_id !== null,
    upload_length: render.size_bytes,
    duration: plan && fromSeconds(plan.keptSeconds),
    render_id: subjectId,
  };
}

export async function deleteOutputAssets(tx: Queries, subjectIds: string[]): Promise<void> {
  for (const id of await listOutputAssetIds(tx, subjectIds)) {
    await markAssetDeleted(tx, id);
    await deleteAsset(tx, id);
  }
}
