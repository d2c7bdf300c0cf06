/** Pipelines and their steps. A step is a job: claiming is a compare-and-swap on its row. */
import { and, asc, eq, inArray, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { Job, JobName } from "../domain/jobs";
import type { Queries } from "./db";
import { pipelines, steps } from "./schema";

export type Step = typeof steps.$inferSelect;

export async function insertPipeline(
  tx: Queries,
  pipeline: typeof pipelines.$inferInsert,
  itsSteps: (typeof steps.$inferInsert)[],
): Promise<void> {
  await tx.insert(pipelines).values(pipeline);
  await tx.insert(steps).values(itsSteps);
}

/** The latest step that works on this asset, cut or render; null when there is none. */
export async function stepOf(db: Queries, subjectId: string): Promise<Step | null> {
  const [row] = await db.select().from(steps).where(eq(steps.subject_id, subjectId)).orderBy(sql`id desc`).limit(1);
  return row ?? null;
}

/** Progress of the steps that run now, by subject. */
export async function progressOf(db: Queries, subjectIds: string[]): Promise<Map<string, number>> {
  if (subjectIds.length === 0) return new Map();
  const rows = await db
    .select({ subject: steps.subject_id, progress: steps.progress })
    .from(steps)
    .where(and(inArray(steps.subject_id, subjectIds), inArray(steps.state, ["pending", "running"])));
  return new Map(rows.map((row) => [row.subject, row.progress ?? 0]));
}

/**
 * The step that is to be claimed next: due, of the user with the fewest running steps of this name; among those users the one who was
 * served longest ago; of that user the oldest. `running` is how many its user has. Null when none is due.
 */
export async function nextStep(
  db: Queries,
  name: JobName,
  owner: string,
  now: number,
): Promise<{ step: Step; running: number } | null> {
  const due = and(
    eq(steps.processor_name, name),
    or(
      and(eq(steps.state, "pending"), sql`${steps.run_after} <= ${now}`),
      // Never the owner's own: after a pause of the whole machine it still runs what its heartbeat could not renew.
      and(eq(steps.state, "running"), lt(steps.lease_until, now), ne(steps.lease_owner, owner)),
    ),
  );
  const running = sql`(select count(*) from steps r where r.user_id = ${steps.user_id} and r.processor_name = ${name} and r.state = 'running' and r.lease_until >= ${now})`;
  const served = sql`(select max(s.served_at) from steps s where s.user_id = ${steps.user_id} and s.processor_name = ${name})`;
  const [next] = await db
    .select({ step: steps, running: sql<number>`${running}` })
    .from(steps)
    .where(due)
    .orderBy(running, served, asc(steps.run_after), asc(steps.id))
    .limit(1);
  return next ?? null;
}

/** Claims the next step, as `nextStep` finds it. Run it in a write transaction. */
export async function claimStep(
  tx: Queries,
  name: JobName,
  owner: string,
  now: number,
  leaseMs: number,
): Promise<Job | null> {
  const next = (await nextStep(tx, name, owner, now))?.step;
  if (!next) return null;
  const [row] = await tx
    .update(steps)
    .set({
      state: "running",
      lease_owner: owner,
      lease_until: now + leaseMs,
      attempts: next.attempts + 1,
      served_at: now,
      started_at: next.started_at ?? now,
    })
    .where(eq(steps.id, next.id))
    .returning();
  await tx
    .update(pipelines)
    .set({ state: "running", started_at: sql`coalesce(${pipelines.started_at}, ${now})` })
    .where(and(eq(pipelines.id, next.pipeline_id), inArray(pipelines.state, ["pending", "running"])));
  return row ? asJob(row) : null;
}

const asJob = (row: Step): Job => ({
  stepId: row.id,
  pipelineId: row.pipeline_id,
  userId: row.user_id,
  name: row.processor_name,
  subjectId: row.subject_id,
  attempt: row.attempts,
  failures: row.failures,
});

/** Extends the lease if it is still the owner's; false when it is not. Progress never goes back, even when a step is started again. */
export async function renewStep(
  tx: Queries,
  stepId: string,
  owner: string,
  leaseUntil: number,
  progress: number | null,
): Promise<boolean> {
  const rows = await tx
    .update(steps)
    .set({
      lease_until: leaseUntil,
      ...(progress === null ? {} : { progress: sql`max(coalesce(${steps.progress}, 0), ${progress})` }),
    })
    .where(and(eq(steps.id, stepId), eq(steps.lease_owner, owner), eq(steps.state, "running")))
    .returning({ id: steps.id });
  return rows.length > 0;
}

/** Puts a running step back to wait until `runAfter`, unless it has been started again since this job was claimed. */
export async function returnStep(
  tx: Queries,
  job: Pick<Job, "stepId" | "attempt">,
  change: { runAfter: number; servedAt: number; failures?: number; attempts?: number },
): Promise<void> {
  await tx
    .update(steps)
    .set({
      state: "pending",
      lease_owner: null,
      lease_until: null,
      run_after: change.runAfter,
      served_at: change.servedAt,
      ...(change.failures === undefined ? {} : { failures: change.failures }),
      ...(change.attempts === undefined ? {} : { attempts: change.attempts }),
    })
    .where(and(eq(steps.id, job.stepId), eq(steps.state, "running"), eq(steps.attempts, job.attempt)));
}

/** After a start nobody runs anything: every lease of an earlier process is void. Gives how many steps were waiting for this. */
export async function returnAllSteps(tx: Queries, now: number): Promise<number> {
  const rows = await tx
    .update(steps)
    .set({ state: "pending", lease_owner: null, lease_until: null, run_after: now })
    .where(eq(steps.state, "running"))
    .returning({ id: steps.id });
  return rows.length;
}

/** When the next step of this name is due; null when none waits. */
export async function nextDue(db: Queries, name: JobName): Promise<number | null> {
  const [row] = await db
    .select({ at: sql<number | null>`min(${steps.run_after})` })
    .from(steps)
    .where(and(eq(steps.processor_name, name), eq(steps.state, "pending")));
  return row?.at ?? null;
}

/**
 * Ends a step that has not ended, and its pipeline when it was the last or did not complete. False when it had ended before, or has been
 * started again since `attempt`.
 */
export async function endStep(
  tx: Queries,
  stepId: string,
  state: "completed" | "failed" | "cancelled",
  now: number,
  attempt?: number,
): Promise<boolean> {
  const [row] = await tx
    .update(steps)
    .set({
      state,
      finished_at: now,
      lease_owner: null,
      lease_until: null,
      ...(state === "completed" ? { progress: 1 } : {}),
    })
    .where(
      and(
        eq(steps.id, stepId),
        isNull(steps.finished_at),
        attempt === undefined ? undefined : eq(steps.attempts, attempt),
      ),
    )
    .returning();
  if (!row) return false;
  const left = await tx
    .select({ id: steps.id })
    .from(steps)
    .where(and(eq(steps.pipeline_id, row.pipeline_id), isNull(steps.finished_at)))
    .limit(1);
  if (state === "completed" && left.length > 0) return true;
  await tx
    .update(pipelines)
    .set({ state, finished_at: now })
    .where(and(eq(pipelines.id, row.pipeline_id), isNull(pipelines.finished_at)));
  return true;
}

/** The steps of these subjects that have not ended. */
export const openStepsOf = (db: Queries, subjectIds: string[]): Promise<Step[]> =>
  db
    .select()
    .from(steps)
    .where(and(inArray(steps.subject_id, subjectIds), isNull(steps.finished_at)));

/** Pipelines and steps outlive the asset that they name. */
export async function markAssetDeleted(tx: Queries, assetId: string): Promise<void> {
  await tx.update(pipelines).set({ input_asset_deleted: true }).where(eq(pipelines.input_asset_id, assetId));
  await tx.update(steps).set({ input_asset_deleted: true }).where(eq(steps.input_asset_id, assetId));
  await tx.update(steps).set({ output_asset_deleted: true }).where(eq(steps.output_asset_id, assetId));
}
