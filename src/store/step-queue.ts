/** The queue of steps: due steps, claims, leases and requeues. Claiming a step is a compare-and-swap on its row. */
import { and, asc, eq, gt, gte, inArray, lt, ne, or, sql } from "drizzle-orm";
import { type DueJob, type Job, type JobName, MIN_UNCLEAN_STARTS_ALONE } from "../domain/jobs";
import type { Queries } from "./db";
import { readValue, rowsOf } from "./rows";
import { pipelines, steps } from "./schema";
import { isAttempt, type Step, type StepAttempt } from "./steps";

const stepRows = rowsOf(steps);

/**
 * Matches due pending steps, and running ones with an expired lease. Excludes the owner's own: after the machine was
 * suspended, it still runs steps whose lease its heartbeat could not renew.
 */
const isDue = (owner: string, now: number) =>
  or(
    and(eq(steps.state, "pending"), sql`${steps.run_after} <= ${now}`),
    and(eq(steps.state, "running"), lt(steps.lease_until, now), ne(steps.lease_owner, owner)),
  );

const runsAlone = or(gt(steps.kernel_kills, 0), gte(steps.unclean_starts, MIN_UNCLEAN_STARTS_ALONE))!;

/**
 * Returns the due step to claim next, or null. Chooses the workspace with the fewest running steps of this name; among
 * those, the one that was served longest ago; and its oldest step. Excludes steps that run alone and those with an ID
 * in `except`. The cost depends on the number of workspaces with pending steps, not on the number of steps: the query
 * jumps from workspace to workspace through a partial index, which `INDEXED BY` requires.
 */
export async function findNextStep(
  db: Queries,
  name: JobName,
  owner: string,
  now: number,
  except: readonly string[],
): Promise<DueJob | null> {
  const notExcepted =
    except.length === 0 ? sql`` : sql`AND s.id NOT IN (SELECT value FROM json_each(${JSON.stringify(except)}))`;
  const shared = sql`s.processor_name = ${name} AND s.kernel_kills = 0 AND s.unclean_starts < ${MIN_UNCLEAN_STARTS_ALONE} ${notExcepted}`;
  const [next] = await db.all<{ id: string; workspaceId: string }>(sql`
    WITH RECURSIVE waiting(workspace_id) AS (
      SELECT min(workspace_id) FROM steps INDEXED BY steps_waiting
      WHERE state = 'pending' AND run_after IS NOT NULL AND processor_name = ${name}
      UNION ALL
      SELECT (
        SELECT min(s.workspace_id) FROM steps s INDEXED BY steps_waiting
        WHERE s.state = 'pending' AND s.run_after IS NOT NULL AND s.processor_name = ${name}
          AND s.workspace_id > waiting.workspace_id
      )
      FROM waiting WHERE waiting.workspace_id IS NOT NULL
    ),
    oldest(id) AS (
      SELECT (
        SELECT s.id FROM steps s INDEXED BY steps_waiting
        WHERE s.state = 'pending' AND s.run_after IS NOT NULL AND ${shared}
          AND s.workspace_id = waiting.workspace_id AND s.run_after <= ${now}
        ORDER BY s.run_after, s.id LIMIT 1
      )
      FROM waiting
      UNION ALL
      SELECT s.id FROM steps s INDEXED BY steps_to_run
      WHERE s.state = 'running' AND ${shared} AND s.lease_until < ${now} AND s.lease_owner <> ${owner}
    )
    SELECT
      d.id AS id,
      d.workspace_id AS workspaceId,
      (
        SELECT count(*) FROM steps r INDEXED BY steps_to_run
        WHERE r.state = 'running' AND r.processor_name = ${name} AND r.workspace_id = d.workspace_id AND r.lease_until >= ${now}
      ) AS running,
      (SELECT max(t.served_at) FROM steps t WHERE t.workspace_id = d.workspace_id AND t.processor_name = ${name}) AS served
    FROM oldest CROSS JOIN steps d ON d.id = oldest.id
    ORDER BY running, served, d.run_after, d.id LIMIT 1`);
  return next ? { stepId: next.id, name, workspaceId: next.workspaceId, runsAlone: false } : null;
}

/** Returns the due step that has waited longest to run alone and is not in `except`, previews last, or null. */
export async function findNextStepAlone(
  db: Queries,
  owner: string,
  now: number,
  except: readonly string[],
): Promise<DueJob | null> {
  const notExcepted =
    except.length === 0 ? undefined : sql`${steps.id} NOT IN (SELECT value FROM json_each(${JSON.stringify(except)}))`;
  const [next] = await db
    .select({ id: steps.id, name: steps.processor_name, workspace: steps.workspace_id })
    .from(steps)
    .where(and(isDue(owner, now), runsAlone, notExcepted))
    .orderBy(sql`${steps.processor_name} = 'preview'`, asc(steps.run_after), asc(steps.id))
    .limit(1);
  return next ? { stepId: next.id, name: next.name, workspaceId: next.workspace, runsAlone: true } : null;
}

/** Claims a step if it is still due, otherwise returns null. Call it in a write transaction. */
export async function claimStep(
  tx: Queries,
  stepId: string,
  owner: string,
  now: number,
  leaseMs: number,
): Promise<Job | null> {
  const [row] = await tx
    .update(steps)
    .set({
      state: "running",
      lease_owner: owner,
      lease_until: now + leaseMs,
      attempts: sql`${steps.attempts} + 1`,
      served_at: now,
      started_at: sql`coalesce(${steps.started_at}, ${now})`,
    })
    .where(and(eq(steps.id, stepId), isDue(owner, now)))
    .returning();
  if (!row) return null;
  await tx
    .update(pipelines)
    .set({ state: "running", started_at: sql`coalesce(${pipelines.started_at}, ${now})` })
    .where(and(eq(pipelines.id, row.pipeline_id), inArray(pipelines.state, ["pending", "running"])));
  return toJob(row);
}

function toJob(row: Step): Job {
  if (row.subject_id === null) throw new Error(`step ${row.id} was claimed before its subject exists`);
  return {
    stepId: row.id,
    pipelineId: row.pipeline_id,
    workspaceId: row.workspace_id,
    name: row.processor_name,
    subjectId: row.subject_id,
    attempt: row.attempts,
    failures: row.failures,
    kernelKills: row.kernel_kills,
    runsAlone: row.kernel_kills > 0 || row.unclean_starts >= MIN_UNCLEAN_STARTS_ALONE,
  };
}

/** Extends the lease and stores the progress, which never decreases. Returns false if the lease was lost. */
export const renewLease = (tx: Queries, stepId: string, owner: string, leaseUntil: number, progress: number | null) =>
  stepRows.updateAll(
    tx,
    {
      lease_until: leaseUntil,
      progress: progress === null ? undefined : sql`max(coalesce(${steps.progress}, 0), ${progress})`,
    },
    { id: stepId, lease_owner: owner, state: "running" },
  );

/** Requeues a running step for `runAfter`, unless it was restarted after this job claimed it. */
export async function requeueStep(
  tx: Queries,
  job: StepAttempt,
  change: { runAfter: number; servedAt: number; failures?: number; attempts?: number; kernelKills?: number },
): Promise<void> {
  await tx
    .update(steps)
    .set({
      state: "pending",
      lease_owner: null,
      lease_until: null,
      run_after: change.runAfter,
      served_at: change.servedAt,
      // Drizzle omits columns that are undefined.
      failures: change.failures,
      attempts: change.attempts,
      kernel_kills: change.kernelKills,
    })
    .where(and(isAttempt(job), eq(steps.state, "running")));
}

/** Requeues the steps that are still running at startup, after an unclean exit. Returns their number. */
export async function requeueInterruptedSteps(tx: Queries, now: number): Promise<number> {
  const requeued = await tx
    .update(steps)
    .set({
      state: "pending",
      lease_owner: null,
      lease_until: null,
      run_after: now,
      unclean_starts: sql`${steps.unclean_starts} + 1`,
    })
    .where(eq(steps.state, "running"));
  return requeued.rowsAffected;
}

export const findNextDueTime = (db: Queries, now: number): Promise<number | null> =>
  readValue(db, sql`SELECT min(run_after) FROM ${steps} WHERE state = 'pending' AND run_after > ${now}`);
