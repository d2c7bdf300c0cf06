/** Pipelines as responses show them. */
import { JOB_FACTS } from "../../domain/jobs";
import { listFilenames } from "../../store/assets";
import type { Queries } from "../../store/db";
import { listSteps, type Pipeline, type StepRow } from "../../store/pipelines";
import type { Call } from "../call";
import { type Resource, SCHEMAS } from "../schemas";
import { showRow } from "../show-row";

const stepSchema = SCHEMAS.Pipeline.properties.steps.items;

const showStep = (step: StepRow): Resource<"Pipeline">["steps"][number] =>
  showRow(stepSchema, step, {
    cut_id: JOB_FACTS[step.processor_name].subject === "cut" ? step.subject_id : null,
    render_id: JOB_FACTS[step.processor_name].subject === "render" ? step.subject_id : null,
    progress: readStepProgress(step),
  });

function readStepProgress({ state, run_after, progress }: StepRow): number | null {
  if (state === "completed") return 1;
  return run_after !== null && (state === "pending" || state === "running") ? (progress ?? 0) : null;
}

export type PipelineParts = { row: Pipeline; steps: StepRow[]; assetName: string | null };

export const showPipeline = async (
  call: Call,
  { row, steps: its, assetName }: PipelineParts,
): Promise<Resource<"Pipeline">> =>
  showRow(SCHEMAS.Pipeline, row, {
    input_asset_name: assetName,
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
