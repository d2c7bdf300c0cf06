/** Projects. */
import { and, asc, desc, eq, getTableColumns, lt, or, type Placeholder, sql } from "drizzle-orm";
import type { SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { ProjectState } from "../domain/states";
import type { Queries } from "./db";
import { type RowPage, toRowPage } from "./paging";
import { prepareRowQuery } from "./prepared-query";
import { projects } from "./schema";

export type Project = typeof projects.$inferSelect;

/** A placeholder for every column, so that a new one is not left out. */
const placeholders = Object.fromEntries(
  Object.keys(getTableColumns(projects)).map((name) => [name, sql.placeholder(name)]),
) as Record<keyof Project, Placeholder>;

const insertProjectQuery = prepareRowQuery<Project, Project>((db) =>
  db.insert(projects).values(placeholders).returning().prepare(),
);

export const insertProject = async (tx: Queries, project: Project): Promise<Project> =>
  (await insertProjectQuery(tx, project))!;

/** Counts the projects of the workspace, also archived ones. */
export const countProjects = (db: Queries, workspaceId: string): Promise<number> =>
  db.$count(projects, eq(projects.workspace_id, workspaceId));

const ownProjectQuery = prepareRowQuery<{ id: string; workspaceId: string }, Project>((db) =>
  db
    .select()
    .from(projects)
    .where(and(eq(projects.id, sql.placeholder("id")), eq(projects.workspace_id, sql.placeholder("workspaceId"))))
    .limit(1)
    .prepare(),
);

/** Returns the project if it belongs to the workspace, else null. */
export const findProject = (db: Queries, workspaceId: string, id: string) => ownProjectQuery(db, { id, workspaceId });

/** Returns the oldest active project of the workspace with this name, or null. */
export async function findActiveProjectByName(db: Queries, workspaceId: string, name: string): Promise<Project | null> {
  const [row] = await db
    .select()
    .from(projects)
    .where(and(eq(projects.workspace_id, workspaceId), eq(projects.state, "active"), eq(projects.name, name)))
    .orderBy(asc(projects.id))
    .limit(1);
  return row ?? null;
}

/** Lists the workspace's projects, most recently active first. `after` is the sort key of the previous page's last project. */
export async function listProjects(
  db: Queries,
  workspaceId: string,
  filter: { state: ProjectState; after: { lastActivityAt: number; id: string } | null; limit: number },
): Promise<RowPage<Project>> {
  const { after } = filter;
  const beyond = after
    ? or(
        lt(projects.last_activity_at, after.lastActivityAt),
        and(eq(projects.last_activity_at, after.lastActivityAt), lt(projects.id, after.id)),
      )
    : undefined;
  const rows = await db
    .select()
    .from(projects)
    .where(and(eq(projects.workspace_id, workspaceId), eq(projects.state, filter.state), beyond))
    .orderBy(desc(projects.last_activity_at), desc(projects.id))
    .limit(filter.limit + 1);
  return toRowPage(rows, filter.limit);
}

/** The columns that a change of a project can set. */
export type ProjectChange = Omit<SQLiteUpdateSetSource<typeof projects>, "id" | "updated_at">;

/** Changes the project, also its `updated_at`. Returns null if it does not exist. The only update of projects. */
export async function updateProject(
  tx: Queries,
  id: string,
  change: ProjectChange,
  now: number,
): Promise<Project | null> {
  const updated_at = sql`max(${projects.updated_at}, ${now})`;
  const [row] = await tx
    .update(projects)
    .set({ ...change, updated_at })
    .where(eq(projects.id, id))
    .returning();
  return row ?? null;
}

/** Sets the project's last activity to `now` unless it is later. */
export const touchProject = (tx: Queries, id: string, now: number): Promise<Project | null> =>
  updateProject(tx, id, { last_activity_at: sql`max(${projects.last_activity_at}, ${now})` }, now);

export async function deleteProject(tx: Queries, id: string): Promise<void> {
  await tx.delete(projects).where(eq(projects.id, id));
}
