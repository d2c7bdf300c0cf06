/** Pipelines as responses show them. */
import { listFilenames } from "../../store/assets";
import type { Queries } from "../../store/db";
import { listSteps, type Pipeline, type StepRow } from "../../store/pipelines";
import type { Call } from "../call";
import { formatTime } from "../format-time";
import type { Resource } from "../schemas";

const showStep = (step: StepRow): Resource<"Pipeline">["steps"][number] => ({
  id: step.id,
  step_order: step.step_order,
  processor_name: step.processor_name,
  state: step.state,
  credits_cost: step.credits_cost,
  input_asset_id: step.input_asset_id,
  input_asset_deleted: step.input_asset_deleted,
  output_asset_id: step.output_asset_id,
  output_asset_deleted: step.output_asset_deleted,
  cut_id: step.processor_name === "cut" ? step.subject_id : null,
  render_id: step.processor_name === "render" ? step.subject_id : null,
  progress: readStepProgress(step),
  error_code: step.error_code,
  error_message: step.error_message,
  started_at: formatTime(step.started_at),
  finished_at: formatTime(step.finished_at),
});

function readStepProgress({ state, run_after, progress }: StepRow): number | null {
  if (state === "completed") return 1;
  return run_after !== null && (state === "pending" || state === "running") ? (progress ?? 0) : null;
}

export type PipelineParts = { row: Pipeline; steps: StepRow[]; assetName: string | null };

export const showPipeline = async (
  call: Call,
  { row, steps: its, assetName }: PipelineParts,
): Promise<Resource<"Pipeline">> => ({
  id: row.id,
  state: row.state,
  total_credits_reserved: row.total_credits_reserved,
  total_credits_consumed: row.total_credits_consumed,
  input_asset_id: row.input_asset_id,
  input_asset_name: assetName,
  input_asset_deleted: row.input_asset_deleted,
  created_at: formatTime(row.created_at),
  started_at: formatTime(row.started_at),
  finished_at: formatTime(row.finished_at),
  steps: its.map(showStep),
  ...(await call.authorship(row.created_by)),
});

/** Adds the steps and the names of their assets to pipelines, for the response. */
export async function readParts(db: Queries, rows: Pipeline[]): Promise<PipelineParts[]> {
  const its = await listSteps(
    db,
    rows.map((row) => row.id),
  );
  const names = await listFilenames(
    db,
    rows.flatMap((row) => row.input_asset_id ?? []),
  );
  return rows.map((row) => ({
    row,
    steps: its.get(row.id) ?? [],
    assetName: names.get(row.input_asset_id ?? "") ?? null,
  }));
}
