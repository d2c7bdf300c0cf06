/** Assets: one row per uploaded file. */
import { and, asc, count, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { AssetState } from "../domain/states";
import { isAnyOf } from "./any-of";
import type { Queries } from "./db";
import { type RowPage, toRowPage } from "./paging";
import { prepareRowQuery } from "./prepared-query";
import { assets } from "./schema";

export type Asset = typeof assets.$inferSelect;
export type NewAsset = typeof assets.$inferInsert;

export async function insertAsset(tx: Queries, asset: NewAsset): Promise<Asset> {
  const [row] = await tx.insert(assets).values(asset).returning();
  return row!;
}

const ownAssetQuery = prepareRowQuery<{ id: string; workspaceId: string }, Asset>((db) =>
  db
    .select()
    .from(assets)
    .where(and(eq(assets.id, sql.placeholder("id")), eq(assets.workspace_id, sql.placeholder("workspaceId"))))
    .limit(1)
    .prepare(),
);

/** Returns the asset if it belongs to the workspace, else null. */
export const findAsset = (db: Queries, workspaceId: string, id: string) => ownAssetQuery(db, { id, workspaceId });

/** Returns an asset of any workspace. For jobs. */
export async function getAsset(db: Queries, id: string): Promise<Asset | null> {
  const [row] = await db.select().from(assets).where(eq(assets.id, id)).limit(1);
  return row ?? null;
}

/** A time by which uploads are judged: those without a byte since `activeSince` have expired, and PUT links that ended before `now`. */
export type UploadCutoff = { activeSince: number; now: number };

const isOpenUpload = ({ activeSince, now }: UploadCutoff) =>
  and(
    gte(assets.upload_active_at, activeSince),
    or(isNull(assets.put_until), gte(assets.put_until, now), gte(assets.upload_active_at, now - MAX_PUT_PAUSE_MS)),
  );

/** A running PUT records its activity more often than this, and may outlast its link. */
export const MAX_PUT_PAUSE_MS = 5 * 60 * 1000;

export type AssetFilter = { projectId: string | null; state: AssetState | null; uploads: UploadCutoff };

/** Matches the source assets that lists show: not those whose upload has expired. */
export const isListed = (workspaceId: string, filter: AssetFilter) =>
  and(
    eq(assets.workspace_id, workspaceId),
    eq(assets.kind, "source"),
    filter.projectId === null ? undefined : eq(assets.project_id, filter.projectId),
    filter.state === null ? undefined : eq(assets.state, filter.state),
    or(ne(assets.state, "pending_upload"), isOpenUpload(filter.uploads)),
  );

/** Lists the workspace's source assets, newest first. */
export async function listAssets(
  db: Queries,
  workspaceId: string,
  filter: AssetFilter & { afterId: string | null; limit: number },
): Promise<RowPage<Asset>> {
  const rows = await db
    .select()
    .from(assets)
    .where(and(isListed(workspaceId, filter), filter.afterId ? lt(assets.id, filter.afterId) : undefined))
    .orderBy(desc(assets.id))
    .limit(filter.limit + 1);
  return toRowPage(rows, filter.limit);
}

export async function updateAsset(tx: Queries, id: string, change: Partial<NewAsset>): Promise<Asset | null> {
  const [row] = await tx.update(assets).set(change).where(eq(assets.id, id)).returning();
  return row ?? null;
}

/** Changes the asset if its state is `from`, else returns null. */
export async function updateAssetInState(
  tx: Queries,
  id: string,
  from: AssetState,
  change: Partial<NewAsset>,
): Promise<Asset | null> {
  const [row] = await tx
    .update(assets)
    .set(change)
    .where(and(eq(assets.id, id), eq(assets.state, from)))
    .returning();
  return row ?? null;
}

export async function deleteAsset(tx: Queries, id: string): Promise<void> {
  await tx.delete(assets).where(eq(assets.id, id));
}

/** Counts the unfinished uploads within the workspace's cap: not expired, and if still empty, created after `emptySince`. */
export async function countOpenUploads(
  db: Queries,
  workspaceId: string,
  cutoff: UploadCutoff,
  emptySince: number,
): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(assets)
    .where(
      and(
        eq(assets.workspace_id, workspaceId),
        eq(assets.state, "pending_upload"),
        isOpenUpload(cutoff),
        // An upload with bytes was active after its creation.
        or(gt(assets.upload_active_at, emptySince), ne(assets.upload_active_at, assets.created_at)),
      ),
    );
  return row?.n ?? 0;
}

/** Counts the unfinished uploads of all workspaces. Reads the index of all assets. */
export async function countAllOpenUploads(db: Queries): Promise<number> {
  const [row] = await db.select({ n: count() }).from(assets).where(eq(assets.state, "pending_upload"));
  return row?.n ?? 0;
}

/** Lists the unfinished uploads of all workspaces. */
export const listOpenUploads = (db: Queries): Promise<Asset[]> =>
  db.select().from(assets).where(eq(assets.state, "pending_upload"));

/** Lists the workspace's assets that wait for credits, in the order of their preparation. */
export const listAssetsPendingPayment = (db: Queries, workspaceId: string): Promise<Asset[]> =>
  db
    .select()
    .from(assets)
    .where(and(eq(assets.workspace_id, workspaceId), eq(assets.state, "pending_payment")))
    .orderBy(asc(assets.prepared_at), asc(assets.id));

/** Returns whether an asset of the workspace waits for credits, or is in preparation with a known charge that could not be held. */
export async function hasUnpaidAssets(db: Queries, workspaceId: string): Promise<boolean> {
  const rows = await db
    .select({ id: assets.id })
    .from(assets)
    .where(
      and(
        eq(assets.workspace_id, workspaceId),
        or(
          eq(assets.state, "pending_payment"),
          and(eq(assets.state, "processing"), eq(assets.payment, "none"), isNotNull(assets.charge)),
        ),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

/** Lists the workspace's assets in preparation whose charge is known but not held, oldest first. */
export const listAssetsWithoutHold = (db: Queries, workspaceId: string): Promise<Asset[]> =>
  db
    .select()
    .from(assets)
    .where(
      and(
        eq(assets.workspace_id, workspaceId),
        eq(assets.state, "processing"),
        eq(assets.payment, "none"),
        isNotNull(assets.charge),
      ),
    )
    .orderBy(asc(assets.id));

/**
 * Lists assets whose `derived_bytes` may differ from the disk, by ID after `afterId`: prepared ones that were never measured, and failed
 * ones whose derived files were not removed.
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
export async function listOutputAssetIds(db: Queries, subjectIds: string[]): Promise<string[]> {
  const rows = await db
    .select({ id: assets.id })
    .from(assets)
    // Not `or`: each half has an index of its own.
    .where(and(isNotNull(assets.cut_id), isAnyOf(assets.cut_id, subjectIds)))
    .unionAll(
      db
        .select({ id: assets.id })
        .from(assets)
        .where(and(isNotNull(assets.render_id), isAnyOf(assets.render_id, subjectIds))),
    );
  return rows.map((row) => row.id);
}

/** Lists the IDs of the project's assets of every kind. */
export async function listProjectAssetIds(db: Queries, projectId: string): Promise<string[]> {
  const rows = await db.select({ id: assets.id }).from(assets).where(eq(assets.project_id, projectId));
  return rows.map((row) => row.id);
}

/** Returns those of the IDs that belong to an asset. */
export async function findExistingAssetIds(db: Queries, ids: string[]): Promise<Set<string>> {
  const rows = await db.select({ id: assets.id }).from(assets).where(isAnyOf(assets.id, ids));
  return new Set(rows.map((row) => row.id));
}

/** Returns the file names of these assets by ID, as far as they exist. */
export async function listFilenames(db: Queries, ids: string[]): Promise<Map<string, string | null>> {
  const rows = await db
    .select({ id: assets.id, filename: assets.filename })
    .from(assets)
    .where(isAnyOf(assets.id, ids));
  return new Map(rows.map(({ id, filename }) => [id, filename]));
}
