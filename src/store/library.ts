/**
 * Reads the data that lists show of recordings besides their own rows: the newest cut, the newest render, and a running
 * cut.
 */
import { and, eq, gt, isNotNull, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import type { CutState } from "../domain/states";
import type { Queries } from "./db";
import { isAnyOf, listIds, rowsOf } from "./rows";
import { assets, cuts, pipelines, renders, steps } from "./schema";
import { cutSummaries, projectTotals } from "./schema-cuts";

export type CutSummary = typeof cutSummaries.$inferSelect;

const summaryRows = rowsOf(cutSummaries);

export const saveCutSummary = summaryRows.putBy(cutSummaries.cut_id);

/** Changes the number of open marks of a cut in lists. */
export const updateOpenMarks = (tx: Queries, cutId: string, openMarks: number) =>
  summaryRows.updateAll(tx, { open_marks: openMarks }, { cut_id: cutId });

/** Stores the numbers of a cut that was not counted yet. Does nothing if lists no longer show it. */
export const countCut = (tx: Queries, cutId: string, numbers: Pick<CutSummary, "kept" | "open_marks">) =>
  summaryRows.updateAll(tx, numbers, { cut_id: cutId, kept: null });

export const deleteCutSummary = summaryRows.deleteBy(cutSummaries.cut_id);

/** Lists IDs of cuts that have not been counted yet, after this one. */
export const listUncountedCuts = (db: Queries, afterId: string, limit: number) =>
  listIds(
    db
      .select({ id: cutSummaries.cut_id })
      .from(cutSummaries)
      .where(and(isNull(cutSummaries.kept), gt(cutSummaries.cut_id, afterId)))
      .orderBy(cutSummaries.cut_id)
      .limit(limit),
  );

/** Lists IDs of the completed, not superseded cuts of a recording whose words may be corrected, oldest first. */
export const listRewordedCutIds = (db: Queries, assetId: string) =>
  listIds(
    db
      .select({ id: cuts.id })
      .from(cutSummaries)
      .innerJoin(cuts, eq(cuts.id, cutSummaries.cut_id))
      .where(
        and(
          eq(cutSummaries.asset_id, assetId),
          or(isNotNull(cuts.edited_from), isNotNull(cuts.keep_edits_of), ne(cuts.script, "")),
        ),
      )
      .orderBy(cuts.id),
  );

/**
 * A column of the newest completed cut of a recording, as SQL; null without one. Cuts that are set aside count only if
 * all are. As in the triggers of `migrations/0037_set_aside_cuts.sql`.
 */
const readNewest = (column: "cut_id" | "open_marks", assetId: SQL | string): SQL =>
  sql`(SELECT s.${sql.raw(column)} FROM cut_summaries AS s WHERE s.asset_id = ${assetId}
    ORDER BY s.is_set_aside, s.cut_id DESC LIMIT 1)`;

/** The ID of the newest completed cut of a recording, as SQL; null without one. */
export const newestCutId = (assetId: SQL | string): SQL => readNewest("cut_id", assetId);

const ASSET_ID = sql.raw("assets.id");

export const CUT_FILTERS = ["none", "to_review", "reviewed"] as const;
export type CutFilter = (typeof CUT_FILTERS)[number];

/** Conditions for rows of `assets` by their newest completed cut. */
const BY_CUT: Record<CutFilter, SQL> = {
  none: sql`${newestCutId(ASSET_ID)} IS NULL`,
  to_review: sql`${readNewest("open_marks", ASSET_ID)} > 0`,
  reviewed: sql`${readNewest("open_marks", ASSET_ID)} = 0`,
};

export type LibraryFilter = {
  tag: string | null;
  createdBy: string | null;
  cut: CutFilter | null;
  ids: string[] | null;
};

/** Matches the assets that a list of recordings is filtered for. */
export const matchesLibrary = ({ tag, createdBy, cut, ids }: LibraryFilter): SQL | undefined =>
  and(
    tag === null ? undefined : sql`EXISTS (SELECT 1 FROM json_each(${assets.tags}) WHERE value = ${tag})`,
    createdBy === null ? undefined : eq(assets.created_by, createdBy),
    cut === null ? undefined : BY_CUT[cut],
    ids === null ? undefined : isAnyOf(assets.id, ids),
  );

export type RecordingFacts = {
  latestCut: Pick<CutSummary, "cut_id" | "kept" | "open_marks"> | null;
  openCut: { id: string; state: CutState } | null;
  lastRender: Pick<typeof renders.$inferSelect, "id" | "cut_id" | "state" | "error_code" | "completed_at"> | null;
};

/**
 * Returns the data that lists show of these recordings, by ID, with the same number of queries for any number of them.
 */
export async function readRecordingFacts(
  db: Queries,
  workspaceId: string,
  assetIds: string[],
): Promise<Map<string, RecordingFacts>> {
  const newestCuts = sql`(SELECT ${newestCutId(sql.raw("a.value"))} FROM json_each(${JSON.stringify(assetIds)}) AS a)`;
  const newestRenders = db
    .select({ id: sql`max(${renders.id})` })
    .from(renders)
    .where(isAnyOf(renders.asset_id, assetIds))
    .groupBy(renders.asset_id);
  const [completed, rendered, open] = await Promise.all([
    db.select().from(cutSummaries).where(sql`${cutSummaries.cut_id} IN ${newestCuts}`),
    db
      .select({
        id: renders.id,
        asset_id: renders.asset_id,
        cut_id: renders.cut_id,
        state: renders.state,
        error_code: renders.error_code,
        completed_at: renders.completed_at,
      })
      .from(renders)
      .where(sql`${renders.id} IN ${newestRenders}`),
    listOpenCuts(db, workspaceId),
  ]);
  const cutsById = new Map(completed.map((row) => [row.asset_id, row]));
  const rendersById = new Map(rendered.map(({ asset_id, ...render }) => [asset_id, render]));
  const openById = new Map(open.map(({ asset_id, ...cut }) => [asset_id, cut]));
  return new Map(
    assetIds.map((id) => [
      id,
      {
        latestCut: cutsById.get(id) ?? null,
        openCut: openById.get(id) ?? null,
        lastRender: rendersById.get(id) ?? null,
      },
    ]),
  );
}

/** Lists the cuts of the workspace that are being made, oldest first. Reads only pipelines that have not ended. */
const listOpenCuts = (db: Queries, workspaceId: string) =>
  db
    .select({ id: cuts.id, asset_id: cuts.asset_id, state: cuts.state })
    .from(pipelines)
    .innerJoin(steps, eq(steps.pipeline_id, pipelines.id))
    .innerJoin(cuts, eq(cuts.id, steps.subject_id))
    .where(
      and(
        eq(pipelines.workspace_id, workspaceId),
        isNull(pipelines.finished_at),
        isNull(steps.finished_at),
        eq(steps.processor_name, "cut"),
      ),
    )
    .orderBy(pipelines.id);

/** Totals of a project's recordings. Durations are in ticks. */
export type ProjectTotals = Omit<typeof projectTotals.$inferSelect, "project_id">;

const NO_TOTALS: ProjectTotals = {
  recordings: 0,
  duration: 0,
  cut_duration: 0,
  kept: 0,
  without_cut: 0,
  to_review: 0,
  open_marks: 0,
  uncounted: 0,
};

/** Returns the totals of these projects by ID. */
export async function readProjectTotals(db: Queries, projectIds: string[]): Promise<Map<string, ProjectTotals>> {
  const rows = await db.select().from(projectTotals).where(isAnyOf(projectTotals.project_id, projectIds));
  const found = new Map(rows.map(({ project_id: id, ...found }) => [id, found]));
  return new Map(projectIds.map((id) => [id, found.get(id) ?? NO_TOTALS]));
}

/** A recording with a poster or, without one, the envelope of its audio. */
export type RecordingPicture = { id: string; has_poster: boolean };

/** Recordings that a tile of a project shows. */
export const MAX_TILE_RECORDINGS = 4;

/** Returns the newest recordings of these projects that have a picture, by ID of the project. */
export async function readProjectPictures(db: Queries, projectIds: string[]): Promise<Map<string, RecordingPicture[]>> {
  const rows = await db.all<{ id: string; newest: string }>(sql`
    SELECT p.value AS id, (
      SELECT json_group_array(json_object('id', n.id, 'has_poster', n.has_poster)) FROM (
        SELECT a.id, a.has_poster FROM ${assets} AS a
        WHERE a.project_id = p.value AND a.kind = 'source' AND a.state = 'ready' AND (a.has_poster OR a.has_waveform)
        ORDER BY a.id DESC LIMIT ${MAX_TILE_RECORDINGS}) AS n) AS newest
    FROM json_each(${JSON.stringify(projectIds)}) AS p`);
  const parse = (newest: string): RecordingPicture[] =>
    (JSON.parse(newest) as { id: string; has_poster: number }[]).map(({ id, has_poster }) => ({
      id,
      has_poster: has_poster !== 0,
    }));
  return new Map(rows.map(({ id, newest }) => [id, parse(newest)]));
}

/** Choices of the filters of a project's recordings. */
export const MAX_FILTER_TAGS = 100;

/** Returns the tags of a project's recordings, the most frequent ones first. */
export const listProjectTags = async (db: Queries, projectId: string): Promise<string[]> =>
  (
    await db.all<{ tag: string }>(sql`
      SELECT t.value AS tag FROM ${assets} AS a, json_each(a.tags) AS t
      WHERE a.project_id = ${projectId} AND a.kind = 'source' AND a.tags <> '[]'
      GROUP BY t.value ORDER BY count(*) DESC, t.value LIMIT ${MAX_FILTER_TAGS}`)
  ).map(({ tag }) => tag);

/** Returns the IDs of the users who have added a project's recordings. */
export const listProjectCreators = async (db: Queries, projectId: string): Promise<string[]> =>
  (
    await db
      .selectDistinct({ id: assets.created_by })
      .from(assets)
      .where(and(eq(assets.project_id, projectId), eq(assets.kind, "source")))
      .limit(MAX_FILTER_TAGS)
  ).flatMap(({ id }) => (id === null ? [] : [id]));
