/** Lists of projects and assets for the dashboard, sorted by a chosen column and filtered by part of the name. */
import { and, asc, desc, eq, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ProjectState } from "../domain/states";
import { type Asset, type AssetFilter, isListed } from "./assets";
import type { Queries } from "./db";
import { type LibraryFilter, matchesLibrary } from "./library";
import type { SortKey } from "./paging";
import type { Project } from "./projects";
import { contains, follows, isAnyOf, type RowPage, toRowPage } from "./rows";
import { assets, projects } from "./schema";

export const PROJECT_SORTS = ["last_activity_at", "created_at", "name"] as const;
export const ASSET_SORTS = ["created_at", "name", "duration_seconds"] as const;

/** `q` is part of the name. `after` is the sort key of the previous page's last row. */
type Sorted<Column> = {
  sort: Column;
  isDescending: boolean;
  q: string | null;
  after: SortKey | null;
  limit: number;
};

const PROJECT_VALUES: Record<(typeof PROJECT_SORTS)[number], { sql: SQL; of(project: Project): string | number }> = {
  last_activity_at: { sql: sql`${projects.last_activity_at}`, of: (project) => project.last_activity_at },
  created_at: { sql: sql`${projects.created_at}`, of: (project) => project.created_at },
  name: { sql: sql`lower(${projects.name})`, of: (project) => toAsciiLowerCase(project.name) },
};

const ASSET_VALUES: Record<(typeof ASSET_SORTS)[number], { sql: SQL; of(asset: Asset): string | number }> = {
  created_at: { sql: sql`${assets.created_at}`, of: (asset) => asset.created_at },
  name: {
    sql: sql`lower(coalesce(${assets.name}, ${assets.filename}, ''))`,
    of: (asset) => toAsciiLowerCase(asset.name ?? asset.filename ?? ""),
  },
  duration_seconds: { sql: sql`coalesce(${assets.duration}, 0)`, of: (asset) => asset.duration ?? 0 },
};

/** Folds the same letters as SQLite's `lower`. */
const toAsciiLowerCase = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

export const toProjectKey = (project: Project, sort: (typeof PROJECT_SORTS)[number]): SortKey => [
  PROJECT_VALUES[sort].of(project),
  project.id,
];
export const toAssetKey = (asset: Asset, sort: (typeof ASSET_SORTS)[number]): SortKey => [
  ASSET_VALUES[sort].of(asset),
  asset.id,
];

function listSorted<T extends SQLiteTable & { id: SQLiteColumn }>(
  db: Queries,
  table: T,
  value: SQL,
  condition: SQL | undefined,
  { after, isDescending, limit }: Sorted<unknown>,
): Promise<RowPage<T["$inferSelect"]>> {
  const by = isDescending ? desc : asc;
  const query = db
    .select()
    .from(table as SQLiteTable)
    .where(and(condition, follows(value, table.id, after, isDescending)));
  return toRowPage(query.orderBy(by(value), by(table.id)), limit);
}

export function listSortedProjects(
  db: Queries,
  workspaceId: string,
  filter: Sorted<(typeof PROJECT_SORTS)[number]> & { state: ProjectState; ids: string[] | null },
): Promise<RowPage<Project>> {
  const condition = and(
    eq(projects.workspace_id, workspaceId),
    eq(projects.state, filter.state),
    filter.q === null ? undefined : contains(projects.name, filter.q),
    filter.ids === null ? undefined : isAnyOf(projects.id, filter.ids),
  );
  return listSorted(db, projects, PROJECT_VALUES[filter.sort].sql, condition, filter);
}

export function listSortedAssets(
  db: Queries,
  workspaceId: string,
  filter: Sorted<(typeof ASSET_SORTS)[number]> & AssetFilter & LibraryFilter,
): Promise<RowPage<Asset>> {
  const isFound =
    filter.q === null ? undefined : or(contains(assets.name, filter.q), contains(assets.filename, filter.q));
  const condition = and(isListed(workspaceId, filter), isFound, matchesLibrary(filter));
  return listSorted(db, assets, ASSET_VALUES[filter.sort].sql, condition, filter);
}
