/** The steps of pipelines. A step is a job; `step-queue.ts` contains the queue. */
import { and, eq, gt, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import type { Job } from "../domain/jobs";
import type { Queries } from "./db";
import { isAnyOf, only, rowsOf } from "./rows";
import { assets, pipelines, steps } from "./schema";

const stepRows = rowsOf(steps);

export type Step = typeof steps.$inferSelect;

/** Returns the latest step that prepared this asset or worked on this cut or render, or null. */
export const findLatestStep = (db: Queries, subjectId: string) =>
  findLatest(db, and(eq(steps.subject_id, subjectId), ne(steps.processor_name, "preview")));

/** Returns the latest step that creates the preview of this asset, or null. */
export const findPreviewStep = (db: Queries, assetId: string) =>
  findLatest(db, and(eq(steps.subject_id, assetId), eq(steps.processor_name, "preview")));

/** A preview that is being created or waits: `duration` is that of the recording, `progress` from 0 to 1. */
export type OpenPreview = {
  stepId: string;
  duration: number | null;
  progress: number | null;
  /** When it was last started; null while it waits. */
  claimedAt: number | null;
};

/** Lists the previews that are being created or wait, in the order in which they became due, at most `limit`. */
export const listOpenPreviews = (db: Queries, limit: number): Promise<OpenPreview[]> =>
  db
    .select({
      stepId: steps.id,
      duration: assets.duration,
      progress: steps.progress,
      claimedAt: sql<number | null>`CASE ${steps.state} WHEN 'running' THEN ${steps.served_at} END`,
    })
    .from(steps)
    .innerJoin(assets, eq(assets.id, steps.subject_id))
    .where(and(inArray(steps.state, ["pending", "running"]), eq(steps.processor_name, "preview")))
    .orderBy(sql`${steps.state} = 'pending'`, steps.run_after, steps.id)
    .limit(limit);

/** More are not counted. */
const MAX_JOBS_BEFORE = 1_000;

/**
 * Estimates how many jobs of the same name start before a queued step, including running ones. Workspaces take turns,
 * so each other one counts with at most as many jobs as the step's own. At most 1,000. Null if it runs, has ended or
 * waits for the step before it.
 */
export async function countStepsBefore(db: Queries, step: Step): Promise<number | null> {
  const { id, state, processor_name: name, run_after: due, workspace_id: workspace } = step;
  if (state !== "pending" || due === null) return null;
  // Pages ask again each second, so the lines of other workspaces are read only as far as they count, each from the
  // index.
  const waiting = sql`FROM steps INDEXED BY steps_waiting
    WHERE state = 'pending' AND run_after IS NOT NULL AND processor_name = ${name}`;
  const isEarlier = sql`(run_after < ${due} OR (run_after = ${due} AND id < ${id}))`;
  const count = async (rows: SQL) =>
    (await only(db.all<{ count: number }>(sql`SELECT count(*) AS count FROM (${rows})`))).count;
  const own = await count(
    sql`SELECT 1 ${waiting} AND workspace_id = ${workspace} AND run_after <= ${due} AND ${isEarlier} LIMIT ${MAX_JOBS_BEFORE}`,
  );
  const others = await db.all<{ waiting: number; earlier: number }>(sql`
    WITH RECURSIVE lines(workspace) AS (
      SELECT min(workspace_id) ${waiting}
      UNION ALL SELECT (SELECT min(workspace_id) ${waiting} AND workspace_id > workspace) FROM lines WHERE workspace IS NOT NULL)
    SELECT (SELECT count(*) FROM (SELECT 1 ${waiting} AND workspace_id = workspace LIMIT ${own + 1})) AS waiting,
      (SELECT ${isEarlier} ${waiting} AND workspace_id = workspace ORDER BY run_after, id LIMIT 1) AS earlier
    FROM lines WHERE workspace IS NOT NULL AND workspace <> ${workspace}`);
  const running = await count(
    sql`SELECT 1 FROM steps INDEXED BY steps_to_run WHERE state = 'running' AND processor_name = ${name}`,
  );
  const before = others.map((line) => Math.min(line.waiting, own + line.earlier));
  return Math.min(
    MAX_JOBS_BEFORE,
    before.reduce((sum, more) => sum + more, own + running),
  );
}

const findLatest = (db: Queries, matches: SQL | undefined) => stepRows.find(db, matches, sql`id desc`);

/** Estimates the seconds until a step is complete from its progress; null while unknown. */
export function estimateRemainingSeconds(
  step: Pick<Step, "progress" | "started_at"> | null,
  now: number,
): number | null {
  const share = step?.progress ?? 0;
  if (!step?.started_at || share < 0.02) return null;
  return ((now - step.started_at) * (1 - share)) / share / 1000;
}

export const findStep = stepRows.findById;

/** Returns the progress of pending and running steps, by subject. */
export async function readProgress(db: Queries, subjectIds: string[]): Promise<Map<string, number>> {
  if (subjectIds.length === 0) return new Map();
  const rows = await db
    .select({ subject: steps.subject_id, progress: steps.progress })
    .from(steps)
    .where(and(isAnyOf(steps.subject_id, subjectIds), inArray(steps.state, ["pending", "running"])));
  return new Map(rows.flatMap(({ subject, progress }) => (subject === null ? [] : [[subject, progress ?? 0]])));
}

/** An attempt at a step: its subject, and how often it was started. A retry starts again at 1 with another subject. */
export type StepAttempt = Pick<Job, "stepId" | "subjectId" | "attempt">;

/** Matches the step while it is at this attempt. */
export const isAttempt = ({ stepId, subjectId, attempt }: StepAttempt) =>
  and(eq(steps.id, stepId), eq(steps.subject_id, subjectId), eq(steps.attempts, attempt));

export const isCurrentAttempt = (step: Step | null, job: StepAttempt): boolean =>
  step?.finished_at === null && step.subject_id === job.subjectId && step.attempts === job.attempt;

/**
 * Ends a step. Returns null if it has already ended or, with an attempt, if another one has replaced it. Only
 * `work/pipelines/pipelines.ts` may call this, because the pipeline must be updated too.
 */
export async function endStep(
  tx: Queries,
  step: { stepId: string } | StepAttempt,
  end: {
    state: "completed" | "failed" | "cancelled";
    error?: { code: string; message: string } | undefined;
    now: number;
  },
) {
  const { state, error, now } = end;
  return stepRows.update(
    tx,
    {
      state,
      error_code: error?.code,
      error_message: error?.message,
      // A step that could not start has no time, and will not be started.
      run_after: sql`coalesce(${steps.run_after}, ${now})`,
      finished_at: now,
      lease_owner: null,
      lease_until: null,
      progress: state === "completed" ? 1 : undefined,
      params: state === "completed" ? null : undefined,
    },
    and("attempt" in step ? isAttempt(step) : eq(steps.id, step.stepId), isNull(steps.finished_at)),
  );
}

/** Sets the prices of unfinished steps to 0. */
export const waiveStepPrices = (tx: Queries) =>
  stepRows.updateAll(tx, { credits_cost: 0 }, and(isNull(steps.finished_at), gt(steps.credits_cost, 0)));

export const listOpenSteps = (db: Queries, subjectIds: string[]) =>
  stepRows.list(db, and(isAnyOf(steps.subject_id, subjectIds), isNull(steps.finished_at)));

/** Marks the asset as deleted in the pipelines and steps that refer to it, which are kept. */
export async function markAssetDeleted(tx: Queries, assetId: string): Promise<void> {
  await tx.update(pipelines).set({ input_asset_deleted: true }).where(eq(pipelines.input_asset_id, assetId));
  await tx.update(steps).set({ input_asset_deleted: true, params: null }).where(eq(steps.input_asset_id, assetId));
  await tx.update(steps).set({ output_asset_deleted: true }).where(eq(steps.output_asset_id, assetId));
}

export const listPendingStepIds = (db: Queries, ids: string[]) =>
  stepRows.listIds(db, and(isAnyOf(steps.id, ids), eq(steps.state, "pending")));

export const listUnendedStepIds = (db: Queries, ids: string[]) =>
  stepRows.listIds(db, and(isAnyOf(steps.id, ids), isNull(steps.finished_at)));
