/** Pipelines: steps that run one after another. */
import { and, asc, desc, eq, getTableColumns, gt, gte, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { StoredStepParams } from "../domain/step-params";
import type { Queries } from "./db";
import { isAnyOf, matchesFilter, type OffsetPage, rowsOf } from "./rows";
import { cuts, pipelines, steps } from "./schema";
import type { Step } from "./steps";

const pipelineRows = rowsOf(pipelines);
const stepRows = rowsOf(steps);

export type Pipeline = typeof pipelines.$inferSelect;

export async function insertPipeline(
  tx: Queries,
  pipeline: typeof pipelines.$inferInsert,
  stepRows: (typeof steps.$inferInsert)[],
): Promise<void> {
  await tx.insert(pipelines).values(pipeline);
  await tx.insert(steps).values(stepRows);
}

/** A hidden pipeline is listed while a user waits for it. */
const isListed = or(
  eq(pipelines.is_hidden, false),
  and(isNull(pipelines.finished_at), isNotNull(pipelines.created_by)),
);

/** Returns the pipeline if it belongs to the workspace and is listed, otherwise null. */
export const findPipeline = (db: Queries, workspaceId: string, id: string) =>
  pipelineRows.find(db, and(eq(pipelines.id, id), eq(pipelines.workspace_id, workspaceId), isListed));

/** Returns a pipeline of any workspace. */
export const findPipelineById = pipelineRows.findById;

/** Counts the cuts and renders of a workspace that wait for a runner, not those that wait for an earlier step. */
export async function countWaitingJobs(db: Queries, workspaceId: string): Promise<number> {
  // Otherwise the planner reads the waiting jobs of all workspaces.
  const [row] = await db.all<{ n: number }>(sql`SELECT count(*) AS n FROM ${steps} INDEXED BY steps_waiting
    WHERE state = 'pending' AND run_after IS NOT NULL AND processor_name IN ('cut', 'render') AND workspace_id = ${workspaceId}`);
  return row?.n ?? 0;
}

/** `isOpen` selects running and waiting pipelines, or ended ones. */
export type PipelineFilter = Partial<Pick<Pipeline, "state" | "input_asset_id">> & { isOpen?: boolean | undefined };

const isOpenPipeline = (isOpen: boolean) => (isOpen ? isNull(pipelines.finished_at) : isNotNull(pipelines.finished_at));

/** Lists the workspace's pipelines, newest first. */
export async function listPipelines(
  db: Queries,
  workspaceId: string,
  { isOpen, ...values }: PipelineFilter,
  page: OffsetPage,
) {
  const matches = and(
    matchesFilter(pipelines, { workspace_id: workspaceId, ...values }),
    isOpen === undefined ? undefined : isOpenPipeline(isOpen),
    isListed,
  );
  return pipelineRows.listPage(db, matches, page, desc(pipelines.id));
}

/** A step without `params`, which may have hundreds of kilobytes. */
export type StepRow = Omit<Step, "params">;

const { params: _params, ...columnsWithoutParams } = getTableColumns(steps);

/** Lists the steps of each of these pipelines in order, without their parameters. */
export async function listSteps(db: Queries, pipelineIds: string[]): Promise<Map<string, StepRow[]>> {
  const rows = await db
    .select(columnsWithoutParams)
    .from(steps)
    .where(isAnyOf(steps.pipeline_id, pipelineIds))
    .orderBy(asc(steps.pipeline_id), asc(steps.step_order));
  return Map.groupBy(rows, (row) => row.pipeline_id);
}

/** Returns the first step of the pipeline that has not ended, or null. */
export const findOpenStep = (db: Queries, pipelineId: string) =>
  stepRows.find(db, { pipeline_id: pipelineId, finished_at: null }, asc(steps.step_order));

/** Returns the cut of the last completed cut step before `stepOrder`, or null. It may have been deleted. */
export async function findPrecedingCutId(db: Queries, pipelineId: string, stepOrder: number): Promise<string | null> {
  const [row] = await db
    .select({ id: steps.subject_id })
    .from(steps)
    .where(
      and(
        eq(steps.pipeline_id, pipelineId),
        eq(steps.processor_name, "cut"),
        eq(steps.state, "completed"),
        sql`${steps.step_order} < ${stepOrder}`,
      ),
    )
    .orderBy(desc(steps.step_order))
    .limit(1);
  return row?.id ?? null;
}

/** Returns the script of a step's cut, or of the step itself before it starts; null if the cut was deleted. */
export async function readScriptOfStep(db: Queries, pipelineId: string, stepOrder: number): Promise<string | null> {
  const [row] = await db
    .select({ script: cuts.script, params: steps.params })
    .from(steps)
    .leftJoin(cuts, eq(cuts.id, steps.subject_id))
    .where(and(eq(steps.pipeline_id, pipelineId), eq(steps.step_order, stepOrder)))
    .limit(1);
  const params = row?.params ?? null;
  return row?.script ?? (params !== null && "script" in params ? params.script : null);
}

/** Deletes the scripts of later steps of an ended pipeline, and the parameters of the steps that share them. */
export async function deleteScriptsAfter(tx: Queries, pipelineId: string, stepOrder: number): Promise<void> {
  await tx.run(sql`UPDATE ${steps} SET params = NULL WHERE pipeline_id = ${pipelineId} AND step_order > ${stepOrder} AND
    (json_extract(params, '$.script') <> '' OR json_extract(params, '$.scriptOfStep') > ${stepOrder})`);
}

/** Returns whether a step after this one has lost its parameters. */
export const hasIncompleteStepsAfter = (db: Queries, pipelineId: string, stepOrder: number) =>
  stepRows.has(db, and(eq(steps.pipeline_id, pipelineId), gt(steps.step_order, stepOrder), isNull(steps.params)));

/** Assigns a subject to a pending step and makes it due. Resets a step that had ended. */
export const startStep = (
  tx: Queries,
  stepId: string,
  start: { subjectId: string; params: StoredStepParams | null; now: number },
) =>
  stepRows.updateAll(
    tx,
    {
      state: "pending",
      subject_id: start.subjectId,
      params: start.params,
      run_after: start.now,
      error_code: null,
      error_message: null,
      output_asset_id: null,
      output_asset_deleted: false,
      attempts: 0,
      failures: 0,
      unclean_starts: 0,
      kernel_kills: 0,
      lease_owner: null,
      lease_until: null,
      progress: null,
      started_at: null,
      finished_at: null,
    },
    { id: stepId },
  );

/** Ends a pipeline. Returns null if it had already ended. */
export const endPipeline = (tx: Queries, id: string, state: "completed" | "failed" | "cancelled", now: number) =>
  pipelineRows.update(tx, { state, finished_at: now }, { id, finished_at: null });

export const updatePipeline = pipelineRows.updateById;

/** Lists this step of the pipeline and the later ones, in order. */
export const listStepsFrom = (db: Queries, pipelineId: string, stepOrder: number): Promise<StepRow[]> =>
  db
    .select(columnsWithoutParams)
    .from(steps)
    .where(and(eq(steps.pipeline_id, pipelineId), gte(steps.step_order, stepOrder)))
    .orderBy(asc(steps.step_order));

export const updateStepPrice = (tx: Queries, stepId: string, credits: number) =>
  stepRows.updateAll(tx, { credits_cost: credits }, { id: stepId });

export const updateStepOutput = (tx: Queries, stepId: string, assetId: string) =>
  stepRows.updateAll(tx, { output_asset_id: assetId }, { id: stepId });

export const addCreditsConsumed = (tx: Queries, id: string, credits: number) =>
  pipelineRows.updateAll(tx, { total_credits_consumed: sql`${pipelines.total_credits_consumed} + ${credits}` }, { id });
