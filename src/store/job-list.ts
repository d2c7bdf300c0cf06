/** The jobs of all workspaces, as an administrator lists them. */
import { and, count, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { assets, cuts, pipelines, renders, steps } from "./schema";
import { users, workspaces } from "./schema-accounts";
import type { Step } from "./steps";

/** `email`: of the user who started the job, null once the account is purged. */
export type ListedJob = {
  step: Step;
  userId: string | null;
  email: string | null;
  workspaceName: string;
  errorCode: string | null;
  errorMessage: string | null;
};

export type JobFilter = {
  state?: Step["state"] | undefined;
  name?: Step["processor_name"] | undefined;
  workspaceId?: string | undefined;
  userId?: string | undefined;
};

const matchesJob = (filter: JobFilter): SQL | undefined =>
  and(
    filter.state === undefined ? undefined : eq(steps.state, filter.state),
    filter.name === undefined ? undefined : eq(steps.processor_name, filter.name),
    filter.workspaceId === undefined ? undefined : eq(steps.workspace_id, filter.workspaceId),
    filter.userId === undefined ? undefined : eq(pipelines.created_by, filter.userId),
  );

/** Lists jobs, newest first. */
export async function listJobs(
  db: Queries,
  filter: JobFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: ListedJob[]; total: number }> {
  const rows = await db
    .select({
      step: steps,
      userId: pipelines.created_by,
      email: users.email,
      workspaceName: workspaces.name,
      errorCode: sql<string | null>`coalesce(${cuts.error_code}, ${renders.error_code}, ${assets.error_code})`,
      errorMessage: sql<
        string | null
      >`coalesce(${cuts.error_message}, ${renders.error_message}, ${assets.error_message})`,
    })
    .from(steps)
    .innerJoin(pipelines, eq(pipelines.id, steps.pipeline_id))
    .innerJoin(workspaces, eq(workspaces.id, steps.workspace_id))
    .leftJoin(users, eq(users.id, pipelines.created_by))
    .leftJoin(assets, eq(assets.id, steps.subject_id))
    .leftJoin(cuts, eq(cuts.id, steps.subject_id))
    .leftJoin(renders, eq(renders.id, steps.subject_id))
    .where(matchesJob(filter))
    .orderBy(desc(steps.id))
    .limit(page.limit)
    .offset(page.offset);
  const counted = db.select({ n: count() }).from(steps);
  const joined =
    filter.userId === undefined ? counted : counted.innerJoin(pipelines, eq(pipelines.id, steps.pipeline_id));
  const [all] = await joined.where(matchesJob(filter));
  return { rows, total: all?.n ?? 0 };
}

/** Returns how many jobs of each name are pending or running. */
export async function countOpenJobs(db: Queries): Promise<{ name: string; state: string; jobs: number }[]> {
  return db
    .select({ name: steps.processor_name, state: steps.state, jobs: count() })
    .from(steps)
    .where(sql`${steps.state} IN ('pending', 'running')`)
    .groupBy(steps.processor_name, steps.state);
}
