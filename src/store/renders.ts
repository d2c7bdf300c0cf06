/** Renders. */
import { and, desc, eq, notInArray } from "drizzle-orm";
import type { RenderState } from "../domain/states";
import type { Queries } from "./db";
import { type IdPage, isAnyOf, prepareOwnRowQuery, rowsOf } from "./rows";
import { renders } from "./schema";

const renderRows = rowsOf(renders);

export type Render = typeof renders.$inferSelect;

export const isOpenRender = ({ state }: Render): boolean => state === "pending" || state === "processing";

export const insertRender = renderRows.insert;

export const findRender = prepareOwnRowQuery(renders);

/** Returns a render of any workspace. For jobs. */
export const findRenderById = renderRows.findById;

/** Returns the render of an identical request, unless it failed or was cancelled. */
export const findIdenticalRender = (db: Queries, workspaceId: string, requestHash: string) =>
  renderRows.find(
    db,
    and(
      eq(renders.workspace_id, workspaceId),
      eq(renders.request_hash, requestHash),
      notInArray(renders.state, ["failed", "cancelled"]),
    ),
    desc(renders.id),
  );

/** Lists the workspace's renders, newest first. */
export const listRenders = (
  db: Queries,
  workspaceId: string,
  filter: IdPage & { assetId: string | null; cutId: string | null; state: RenderState | null },
) =>
  renderRows.listNewest(
    db,
    and(
      eq(renders.workspace_id, workspaceId),
      filter.assetId ? eq(renders.asset_id, filter.assetId) : undefined,
      filter.cutId ? eq(renders.cut_id, filter.cutId) : undefined,
      filter.state ? eq(renders.state, filter.state) : undefined,
    ),
    filter,
  );

/** Returns the newest completed render of a cut, or null. */
export const findNewestRender = (db: Queries, cutId: string) =>
  renderRows.find(db, { cut_id: cutId, state: "completed" }, desc(renders.id));

export const listAssetRenders = (db: Queries, assetId: string) => renderRows.list(db, { asset_id: assetId });
export const listCutRenders = (db: Queries, cutId: string) => renderRows.list(db, { cut_id: cutId });

/** Returns the IDs that belong to a render with a file, now or later. */
export const findExistingRenderIds = async (db: Queries, ids: string[]) =>
  new Set(
    await renderRows.listIds(db, and(isAnyOf(renders.id, ids), notInArray(renders.state, ["failed", "cancelled"]))),
  );

/** Changes the render. Returns null if it is in a terminal state or does not exist. */
export const updateOpenRender = (tx: Queries, id: string, change: Partial<typeof renders.$inferInsert>) =>
  renderRows.update(tx, change, { id, completed_at: null });

export const deleteRender = renderRows.deleteById;
