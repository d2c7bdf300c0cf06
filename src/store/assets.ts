/** Assets: one row per uploaded file. */
import { and, asc, count, desc, eq, gt, gte, inArray, isNotNull, lt, ne, or, sql } from "drizzle-orm";
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

/** Lists the workspace's source assets, newest first, without uploads that received no byte since `uploadsActiveSince`. */
export async function listAssets(
  db: Queries,
  workspaceId: string,
  filter: {
    projectId: string | null;
    state: AssetState | null;
    uploadsActiveSince: number;
    afterId: string | null;
    limit: number;
  },
): Promise<RowPage<Asset>> {
  const rows = await db
    .select()
    .from(assets)
    .where(
      and(
        eq(assets.workspace_id, workspaceId),
        eq(assets.kind, "source"),
        filter.projectId ? eq(assets.project_id, filter.projectId) : undefined,
        filter.state ? eq(assets.state, filter.state) : undefined,
        or(ne(assets.state, "pending_upload"), gte(assets.upload_active_at, filter.uploadsActiveSince)),
        filter.afterId ? lt(assets.id, filter.afterId) : undefined,
      ),
    )
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

/** Counts the unfinished uploads within the workspace's cap: active since `activeSince`, and if still empty, created after `emptySince`. */
export async function countOpenUploads(
  db: Queries,
  workspaceId: string,
  activeSince: number,
  emptySince: number,
): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(assets)
    .where(
      and(
        eq(assets.workspace_id, workspaceId),
        eq(assets.state, "pending_upload"),
        gte(assets.upload_active_at, activeSince),
        // An upload with bytes was active after its creation.
        or(gt(assets.upload_active_at, emptySince), ne(assets.upload_active_at, assets.created_at)),
      ),
    );
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
        or(
          and(inArray(assets.state, ["ready", "pending_payment"]), eq(assets.derived_bytes, 0)),
          and(eq(assets.state, "failed"), gt(assets.derived_bytes, 0)),
        ),
      ),
    )
    .orderBy(asc(assets.id))
    .limit(limit);

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
