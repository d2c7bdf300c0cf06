/** Projects. */
import { asc, getTableColumns, type Placeholder, sql } from "drizzle-orm";
import type { SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { Queries } from "./db";
import { prepareOwnRowQuery, prepareRowQuery, rowsOf } from "./rows";
import { projects } from "./schema";

const projectRows = rowsOf(projects);

export type Project = typeof projects.$inferSelect;

/** A placeholder for every column, so that no new column is forgotten. */
const placeholders = Object.fromEntries(
  Object.keys(getTableColumns(projects)).map((name) => [name, sql.placeholder(name)]),
) as Record<keyof Project, Placeholder>;

const insertProjectQuery = prepareRowQuery<Project, Project>((db) =>
  db.insert(projects).values(placeholders).returning().prepare(),
);

/** Columns that define how a project cuts recordings after their upload. By default, it does not. */
type CutColumn = "cut_mode" | "cut_language";

type NewProject = Omit<Project, CutColumn> & Partial<Pick<Project, CutColumn>>;

export const insertProject = async (tx: Queries, project: NewProject): Promise<Project> =>
  (await insertProjectQuery(tx, { cut_mode: null, cut_language: null, ...project }))!;

/** Counts the projects of the workspace, including archived ones. */
export const countProjects = (db: Queries, workspaceId: string) => projectRows.count(db, { workspace_id: workspaceId });

export const findProject = prepareOwnRowQuery(projects);

/** Returns the oldest active project of the workspace with this name, or null. */
export const findActiveProjectByName = (db: Queries, workspaceId: string, name: string) =>
  projectRows.find(db, { workspace_id: workspaceId, state: "active", name }, asc(projects.id));

/** The columns that a change of a project can set. */
export type ProjectChange = Omit<SQLiteUpdateSetSource<typeof projects>, "id" | "updated_at">;

/** Changes the project and its `updated_at`. Returns null if it does not exist. All updates go through it. */
export async function updateProject(tx: Queries, id: string, change: ProjectChange, now: number) {
  const updated_at = sql`max(${projects.updated_at}, ${now})`;
  return projectRows.update(tx, { ...change, updated_at }, { id });
}

/** Sets the project's last activity to `now` unless it is later. */
export const touchProject = (tx: Queries, id: string, now: number) =>
  updateProject(tx, id, { last_activity_at: sql`max(${projects.last_activity_at}, ${now})` }, now);

export const deleteProject = projectRows.deleteById;
