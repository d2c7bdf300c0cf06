/**
 * Cuts and their drafts: unsaved edits, at most one per cut. Lists omit the plan and what belongs to it, which are
 * large columns.
 */
import { and, desc, eq, getTableColumns, inArray, isNull, lt, ne, notInArray, or, sql } from "drizzle-orm";
import type { CutState } from "../domain/states";
import type { Queries } from "./db";
import { deleteCutSummary, newestCutId } from "./library";
import { first, type IdPage, isAfter, listIds, prepareOwnRowQuery, type RowPage, readValue, rowsOf } from "./rows";
import { cuts, drafts } from "./schema";
import { deleteCorrectedPassages } from "./search";

const cutRows = rowsOf(cuts);
const draftRows = rowsOf(drafts);

export type Cut = typeof cuts.$inferSelect;
export type CutRow = Omit<Cut, "plan" | "basis" | "review_items">;

const { plan: _plan, basis: _basis, review_items: _items, ...columnsWithoutPlan } = getTableColumns(cuts);

export const insertCut = cutRows.insert;

export const findCut = prepareOwnRowQuery(cuts);

/** Returns the cut without its plan if it belongs to the workspace, otherwise null. */
export const findCutRow = (db: Queries, workspaceId: string, id: string) =>
  first(
    db
      .select(columnsWithoutPlan)
      .from(cuts)
      .where(and(eq(cuts.id, id), eq(cuts.workspace_id, workspaceId))),
  );

export const hasCut = (db: Queries, workspaceId: string, id: string) =>
  cutRows.has(db, { id, workspace_id: workspaceId });

/** Returns who created a cut and whether another one was saved in its place, without its texts. */
export const findCutVersion = (db: Queries, id: string) =>
  first(
    db
      .select({
        created_by: cuts.created_by,
        created_at: cuts.created_at,
        superseded_by: cuts.superseded_by,
        superseded_at: cuts.superseded_at,
      })
      .from(cuts)
      .where(eq(cuts.id, id)),
  );

/** Returns the cut of a recording that is opened by default, with its plan, or null. */
export const findNewestCut = (db: Queries, assetId: string) => cutRows.find(db, eq(cuts.id, newestCutId(assetId)));

/** Returns a cut of any workspace. For jobs. */
export const findCutById = cutRows.findById;

/** Returns the size of a completed plan as JSON and the duration that it keeps, or null. */
export async function readPlanFacts(db: Queries, id: string): Promise<{ bytes: number; keptSeconds: number } | null> {
  const [row] = await db
    .select({
      bytes: sql<number | null>`octet_length(${cuts.plan})`,
      keptSeconds: sql<number | null>`json_extract(${cuts.plan}, '$.kept_duration')`,
    })
    .from(cuts)
    .where(eq(cuts.id, id))
    .limit(1);
  return row && row.bytes !== null ? { bytes: row.bytes, keptSeconds: row.keptSeconds ?? 0 } : null;
}

/** Returns the cut of an identical request, unless it failed with an error that a retry may fix. */
export const findIdenticalCut = (db: Queries, workspaceId: string, requestHash: string) =>
  cutRows.find(
    db,
    and(
      eq(cuts.workspace_id, workspaceId),
      eq(cuts.request_hash, requestHash),
      or(ne(cuts.state, "failed"), notInArray(cuts.error_code, ["processing_failed", "cancelled", "storage_full"])),
    ),
    desc(cuts.id),
  );

/** Bounds the memory of a page: a script may have hundreds of kilobytes, and a page a hundred cuts. */
const MAX_PAGE_SCRIPT_BYTES = 1024 * 1024;

/** Lists the workspace's cuts without plans, newest first: at most `limit`, at least one, fewer for long scripts. */
export async function listCuts(
  db: Queries,
  workspaceId: string,
  filter: IdPage & { assetId: string | null; state: CutState | null },
): Promise<RowPage<CutRow>> {
  const sizes = await db
    .select({ id: cuts.id, scriptBytes: sql<number>`octet_length(${cuts.script})` })
    .from(cuts)
    .where(
      and(
        eq(cuts.workspace_id, workspaceId),
        isNull(cuts.superseded_by),
        filter.assetId ? eq(cuts.asset_id, filter.assetId) : undefined,
        filter.state ? eq(cuts.state, filter.state) : undefined,
        isAfter(cuts.id, filter),
      ),
    )
    .orderBy(desc(cuts.id))
    .limit(filter.limit + 1);
  let scriptBytes = 0;
  const ids: string[] = [];
  for (const cut of sizes.slice(0, filter.limit)) {
    scriptBytes += cut.scriptBytes;
    if (ids.length > 0 && scriptBytes > MAX_PAGE_SCRIPT_BYTES) break;
    ids.push(cut.id);
  }
  const rows = await db.select(columnsWithoutPlan).from(cuts).where(inArray(cuts.id, ids)).orderBy(desc(cuts.id));
  return { rows, hasMore: sizes.length > ids.length };
}

export const listAssetCutIds = (db: Queries, assetId: string) => cutRows.listIds(db, { asset_id: assetId });

/** Changes the cut. Returns null if it is in a terminal state or does not exist. */
export const updateOpenCut = (tx: Queries, id: string, change: Partial<typeof cuts.$inferInsert>) =>
  cutRows.update(tx, change, { id, completed_at: null });

export const updateCut = (tx: Queries, id: string, change: Partial<Pick<Cut, "name" | "note">>) =>
  cutRows.updateById(tx, id, change);

/** Records that a cut was saved in the place of another one. */
export async function supersedeCut(tx: Queries, id: string, by: string, now: number): Promise<void> {
  await cutRows.updateAll(tx, { superseded_by: by, superseded_at: now }, { id });
  await deleteCutSummary(tx, id);
  await deleteCorrectedPassages(tx, id);
}

/** Lists superseded cuts that no render uses, oldest first. */
export const listSupersededBefore = (db: Queries, time: number, limit: number) =>
  listIds(
    db
      .select({ id: cuts.id })
      .from(cuts)
      .where(
        and(lt(cuts.superseded_at, time), sql`NOT EXISTS (SELECT 1 FROM renders AS r WHERE r.cut_id = ${cuts.id})`),
      )
      .orderBy(cuts.superseded_at)
      .limit(limit),
  );

export const deleteCut = cutRows.deleteById;

export type Draft = typeof drafts.$inferSelect;

export const findDraft = (db: Queries, workspaceId: string, cutId: string) =>
  draftRows.find(db, { cut_id: cutId, workspace_id: workspaceId });

/** Returns the revision of a cut's draft without its content; null if there is none. */
export const readDraftRevision = (db: Queries, cutId: string): Promise<number | null> =>
  readValue(db, sql`SELECT revision FROM ${drafts} WHERE cut_id = ${cutId}`);

export const saveDraft = draftRows.putBy(drafts.cut_id);

/**
 * Deletes the draft of a cut, and keeps its revision: a page that still has this draft must not overwrite the next one.
 */
export async function deleteDraft(tx: Queries, cutId: string): Promise<void> {
  const ended = await first(
    tx.delete(drafts).where(eq(drafts.cut_id, cutId)).returning({ ended_draft_revision: drafts.revision }),
  );
  if (ended !== null) await cutRows.updateAll(tx, ended, { id: cutId });
}

/** Returns the revision of the last draft of a cut that was deleted; 0 without one. */
export const readEndedDraftRevision = async (db: Queries, cutId: string): Promise<number> =>
  (await readValue<number>(db, sql`SELECT ended_draft_revision FROM ${cuts} WHERE id = ${cutId}`)) ?? 0;
