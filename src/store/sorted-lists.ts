/** Lists of projects and assets for the dashboard, sorted by a chosen column and filtered by part of the name. */
import { and, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import type { ProjectState } from "../domain/states";
import { type Asset, type AssetFilter, isListed } from "./assets";
import type { Queries } from "./db";
import { follows, type RowPage, type SortKey, toRowPage } from "./paging";
import type { Project } from "./projects";
import { assets, projects } from "./schema";
import { contains } from "./text-search";

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
  name: { sql: sql`lower(coalesce(${assets.filename}, ''))`, of: (asset) => toAsciiLowerCase(asset.filename ?? "") },
  duration_seconds: { sql: sql`coalesce(${assets.duration}, 0)`, of: (asset) => asset.duration ?? 0 },
};

/** Folds the same letters as SQLite's `lower`. */
const toAsciiLowerCase = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Returns the sort key of a row for a list sorted by this column. */
export const toProjectKey = (project: Project, sort: (typeof PROJECT_SORTS)[number]): SortKey => [
  PROJECT_VALUES[sort].of(project),
  project.id,
];
export const toAssetKey = (asset: Asset, sort: (typeof ASSET_SORTS)[number]): SortKey => [
  ASSET_VALUES[sort].of(asset),
  asset.id,
];

const order = (isDescending: boolean) => (isDescending ? desc : asc);

/** Lists the workspace's projects. */
export async function listSortedProjects(
  db: Queries,
  workspaceId: string,
  filter: Sorted<(typeof PROJECT_SORTS)[number]> & { state: ProjectState },
): Promise<RowPage<Project>> {
  const value = PROJECT_VALUES[filter.sort].sql;
  const by = order(filter.isDescending);
  return toRowPage(
    db
      .select()
      .from(projects)
      .where(
        and(
          eq(projects.workspace_id, workspaceId),
          eq(projects.state, filter.state),
          filter.q === null ? undefined : contains(projects.name, filter.q),
          follows(value, projects.id, filter.after, filter.isDescending),
        ),
      )
      .orderBy(by(value), by(projects.id)),
    filter.limit,
  );
}

/** Lists the workspace's source assets. */
export async function listSortedAssets(
  db: Queries,
  workspaceId: string,
  filter: Sorted<(typeof ASSET_SORTS)[number]> & AssetFilter,
): Promise<RowPage<Asset>> {
  const value = ASSET_VALUES[filter.sort].sql;
  const by = order(filter.isDescending);
  return toRowPage(
    db
      .select()
      .from(assets)
      .where(
        and(
          isListed(workspaceId, filter),
          filter.q === null ? undefined : contains(assets.filename, filter.q),
          follows(value, assets.id, filter.after, filter.isDescending),
        ),
      )
      .orderBy(by(value), by(assets.id)),
    filter.limit,
  );
}
