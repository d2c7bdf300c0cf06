/** The jobs of all workspaces, as an administrator lists them. */
import { and, count, desc, eq, isNotNull, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { nameAsset } from "./assets";
import type { Queries } from "./db";
import { first, matchesFilter, type OffsetPage, only, readPage } from "./rows";
import { assets, cuts, pipelines, renders, steps } from "./schema";
import { users, workspaces } from "./schema-accounts";
import type { Step } from "./steps";

/**
 * `email` is the address of the user who started the job; null once the account is purged. `assetName` is that of
 * the asset that the job works on.
 */
export type ListedJob = Awaited<ReturnType<typeof selectJobs>>[number];

export type JobFilter = { user_id?: string; name?: Step["processor_name"] } & Partial<
  Pick<Step, "state" | "workspace_id">
>;

const inputs = alias(assets, "inputs");

/** Matches steps whose turn in their pipeline has come. */
const isJob = isNotNull(steps.run_after);

const matchesJob = ({ user_id: created_by, name: processor_name, ...values }: JobFilter): SQL | undefined =>
  and(isJob, matchesFilter(steps, { processor_name, ...values }), matchesFilter(pipelines, { created_by }));

const selectJobs = (db: Queries) =>
  db
    .select({
      step: steps,
      userId: pipelines.created_by,
      email: users.email,
      workspaceName: workspaces.name,
      assetName: nameAsset(inputs),
      errorCode: sql<
        string | null
      >`coalesce(${steps.error_code}, ${cuts.error_code}, ${renders.error_code}, ${assets.error_code})`,
      errorMessage: sql<
        string | null
      >`coalesce(${steps.error_message}, ${cuts.error_message}, ${renders.error_message}, ${assets.error_message})`,
    })
    .from(steps)
    .innerJoin(pipelines, eq(pipelines.id, steps.pipeline_id))
    .innerJoin(workspaces, eq(workspaces.id, steps.workspace_id))
    .leftJoin(users, eq(users.id, pipelines.created_by))
    .leftJoin(assets, eq(assets.id, steps.subject_id))
    .leftJoin(inputs, eq(inputs.id, steps.input_asset_id))
    .leftJoin(cuts, eq(cuts.id, steps.subject_id))
    .leftJoin(renders, eq(renders.id, steps.subject_id));

/** Lists jobs, newest first. */
export async function listJobs(db: Queries, filter: JobFilter, page: OffsetPage) {
  const counted = db.select({ n: count() }).from(steps);
  const joined =
    filter.user_id === undefined ? counted : counted.innerJoin(pipelines, eq(pipelines.id, steps.pipeline_id));
  const { n } = await only(joined.where(matchesJob(filter)));
  return readPage(selectJobs(db).where(matchesJob(filter)).orderBy(desc(steps.id)), page, n);
}

export const findListedJob = (db: Queries, id: string) =>
  first(
    selectJobs(db)
      .where(and(isJob, eq(steps.id, id)))
      .limit(1),
  );

/** Job counts. `longestWaitMs`: longest wait of a due job. `ended` and `failed`: within the last 24 hours. */
export type JobFacts = { running: number; pending: number; longestWaitMs: number; ended: number; failed: number };

const DAY_MS = 24 * 3600 * 1000;

/** Returns the load of the queue, which the status page shows to every user. */
export async function readJobFacts(db: Queries, now: number) {
  // INDEXED BY: otherwise SQLite reads every failed job since the installation.
  return only(
    db.all<JobFacts>(sql`SELECT
    (SELECT count(*) FROM steps WHERE state = 'running') AS running,
    (SELECT count(*) FROM steps WHERE state = 'pending' AND run_after IS NOT NULL) AS pending,
    (SELECT coalesce(max(${now} - run_after), 0) FROM steps WHERE state = 'pending' AND run_after <= ${now}) AS longestWaitMs,
    lately.ended, lately.failed
    FROM (SELECT count(*) AS ended, count(*) FILTER (WHERE state = 'failed') AS failed
      FROM steps INDEXED BY steps_by_end WHERE finished_at > ${now - DAY_MS}) AS lately`),
  );
}

/** Jobs with the same name and state. `firstDueAt` is when the first of them became or becomes due. */
export type OpenJobs = { name: string; state: string; jobs: number; firstDueAt: number };

export async function countOpenJobs(db: Queries): Promise<OpenJobs[]> {
  return db
    .select({
      name: steps.processor_name,
      state: steps.state,
      jobs: count(),
      firstDueAt: sql<number>`min(${steps.run_after})`,
    })
    .from(steps)
    .where(and(isJob, sql`${steps.state} IN ('pending', 'running')`))
    .groupBy(steps.processor_name, steps.state);
}
