/** Assets: one row per uploaded file. */
import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, ne, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { AssetState } from "../domain/states";
import type { Queries } from "./db";
import { type IdPage, isAnyOf, listIds, prepareOwnRowQuery, rowsOf } from "./rows";
import { assets, cuts, renders } from "./schema";

const assetRows = rowsOf(assets);

export type Asset = typeof assets.$inferSelect;
export type NewAsset = typeof assets.$inferInsert;

export const insertAsset = assetRows.insert;

export const findAsset = prepareOwnRowQuery(assets);

/** Returns an asset of any workspace. For jobs. */
export const findAssetById = assetRows.findById;

/** Uploads without a byte since `activeSince` have expired, as have PUT links that ended before `now`. */
export type UploadCutoff = { activeSince: number; now: number };

const isOpenUpload = ({ activeSince, now }: UploadCutoff) =>
  and(
    gte(assets.upload_active_at, activeSince),
    or(isNull(assets.put_until), gte(assets.put_until, now), gte(assets.upload_active_at, now - MAX_PUT_PAUSE_MS)),
  );

/** A running PUT records its activity at shorter intervals, and may outlast its link. */
export const MAX_PUT_PAUSE_MS = 5 * 60 * 1000;

export type AssetFilter = { projectId: string | null; state: AssetState | null; uploads: UploadCutoff };

/** Matches the source assets in lists: all except those whose upload has expired. */
export const isListed = (workspaceId: string, filter: AssetFilter) =>
  and(
    eq(assets.workspace_id, workspaceId),
    eq(assets.kind, "source"),
    filter.projectId === null ? undefined : eq(assets.project_id, filter.projectId),
    filter.state === null ? undefined : eq(assets.state, filter.state),
    or(ne(assets.state, "pending_upload"), isOpenUpload(filter.uploads)),
  );

/** Lists the workspace's source assets, newest first. */
export const listAssets = (db: Queries, workspaceId: string, filter: AssetFilter & IdPage) =>
  assetRows.listNewest(db, isListed(workspaceId, filter), filter);

export const updateAsset = assetRows.updateById;

/** Changes the asset if its state is `from`, otherwise returns null. */
export const updateAssetInState = (tx: Queries, id: string, from: AssetState, change: Partial<NewAsset>) =>
  assetRows.update(tx, change, { id, state: from });

export const deleteAsset = assetRows.deleteById;

/** Counts the unfinished uploads for the workspace's cap: not expired and, if empty, created after `emptySince`. */
export const countOpenUploads = (db: Queries, workspaceId: string, cutoff: UploadCutoff, emptySince: number) =>
  assetRows.count(
    db,
    and(
      eq(assets.workspace_id, workspaceId),
      eq(assets.state, "pending_upload"),
      isOpenUpload(cutoff),
      // An upload with bytes was active after its creation.
      or(gt(assets.upload_active_at, emptySince), ne(assets.upload_active_at, assets.created_at)),
    ),
  );

/** Counts the unfinished uploads of all workspaces. Reads the index of all assets. */
export const countAllOpenUploads = (db: Queries) => assetRows.count(db, { state: "pending_upload" });

export const listOpenUploads = (db: Queries) => assetRows.list(db, { state: "pending_upload" });

/** Lists the workspace's assets that are waiting for credits, in the order of their preparation. */
export const listAssetsPendingPayment = (db: Queries, workspaceId: string) =>
  assetRows.list(db, { workspace_id: workspaceId, state: "pending_payment" }, asc(assets.prepared_at), asc(assets.id));

const isWithoutHold = and(eq(assets.state, "processing"), eq(assets.payment, "none"), isNotNull(assets.charge));
const isUnsettled = or(eq(assets.state, "pending_payment"), isWithoutHold);

/** Lists the workspaces with assets that are waiting for credits, or whose known charge could not be held. */
export const listUnsettledWorkspaces = async (db: Queries): Promise<string[]> =>
  (await db.selectDistinct({ id: assets.workspace_id }).from(assets).where(isUnsettled)).map(({ id }) => id);

/** Sets the known charges of unfinished assets to 0. Held ones count as settled. */
export async function waiveAssetCharges(tx: Queries): Promise<void> {
  await assetRows.updateAll(tx, { charge: 0 }, isUnsettled);
  await assetRows.updateAll(tx, { charge: 0, payment: "settled" }, { payment: "held" });
}

/** Returns whether an asset of the workspace is waiting for credits, or its known charge could not be held. */
export const hasUnpaidAssets = (db: Queries, workspaceId: string) =>
  assetRows.has(db, and(eq(assets.workspace_id, workspaceId), isUnsettled));

/** Lists the workspace's assets in preparation with a known charge that is not held, oldest first. */
export const listAssetsWithoutHold = (db: Queries, workspaceId: string) =>
  assetRows.list(db, and(eq(assets.workspace_id, workspaceId), isWithoutHold), asc(assets.id));

/**
 * Lists assets, by ID after `afterId`, whose `derived_bytes` may differ from the disk: prepared ones that were never
 * measured, and failed ones whose derived files were not removed.
 */
export const listUnmeasuredAssets = (
  db: Queries,
  afterId: string,
  limit: number,
): Promise<{ id: string; state: AssetState }[]> =>
  db
    .select({ id: assets.id, state: assets.state })
    .from(assets)
    .where(
      and(
        gt(assets.id, afterId),
        eq(assets.kind, "source"),
        or(
          and(inArray(assets.state, ["ready", "pending_payment"]), eq(assets.derived_bytes, 0)),
          and(eq(assets.state, "failed"), gt(assets.derived_bytes, 0)),
        ),
      ),
    )
    .orderBy(asc(assets.id))
    .limit(limit);

/** Lists the assets that are the outputs of these cuts and renders. */
export const listOutputAssetIds = (db: Queries, subjectIds: string[]) =>
  listIds(
    db
      .select({ id: assets.id })
      .from(assets)
      // Not `or`: each half has its own index.
      .where(and(isNotNull(assets.cut_id), isAnyOf(assets.cut_id, subjectIds)))
      .unionAll(
        db
          .select({ id: assets.id })
          .from(assets)
          .where(and(isNotNull(assets.render_id), isAnyOf(assets.render_id, subjectIds))),
      ),
  );

/** Moves an asset, and the outputs of its cuts and renders, to a project. */
export async function moveAsset(tx: Queries, id: string, projectId: string): Promise<void> {
  const subjects = listIds(
    tx
      .select({ id: cuts.id })
      .from(cuts)
      .where(eq(cuts.asset_id, id))
      .unionAll(tx.select({ id: renders.id }).from(renders).where(eq(renders.asset_id, id))),
  );
  const ids = [id, ...(await listOutputAssetIds(tx, await subjects))];
  await assetRows.updateAll(tx, { project_id: projectId }, isAnyOf(assets.id, ids));
}

export const listProjectAssetIds = (db: Queries, projectId: string) => assetRows.listIds(db, { project_id: projectId });

export const findExistingAssetIds = async (db: Queries, ids: string[]) =>
  new Set(await assetRows.listIds(db, isAnyOf(assets.id, ids)));

/** The name of an asset, or its file name if it was not renamed. */
export const nameAsset = (table: Record<"name" | "filename", SQLWrapper> = assets): SQL<string | null> =>
  sql`coalesce(${table.name}, ${table.filename})`;

/** Returns the names of these assets by ID, if they exist. */
export async function listAssetNames(db: Queries, ids: string[]): Promise<Map<string, string | null>> {
  const rows = await db.select({ id: assets.id, name: nameAsset() }).from(assets).where(isAnyOf(assets.id, ids));
  return new Map(rows.map(({ id, name }) => [id, name]));
}
