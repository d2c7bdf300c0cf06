/** Renders. */
import { and, desc, eq, isNull, lt, notInArray, sql } from "drizzle-orm";
import type { RenderState } from "../domain/states";
import { isAnyOf } from "./any-of";
import type { Queries } from "./db";
import { type RowPage, toRowPage } from "./paging";
import { prepareRowQuery } from "./prepared-query";
import { renders } from "./schema";

export type Render = typeof renders.$inferSelect;

/** Returns whether a render is not in a terminal state. */
export const isOpenRender = ({ state }: Render): boolean => state === "pending" || state === "processing";

export async function insertRender(tx: Queries, render: typeof renders.$inferInsert): Promise<Render> {
  const [row] = await tx.insert(renders).values(render).returning();
  return row!;
}

const ownRenderQuery = prepareRowQuery<{ id: string; workspaceId: string }, Render>((db) =>
  db
    .select()
    .from(renders)
    .where(and(eq(renders.id, sql.placeholder("id")), eq(renders.workspace_id, sql.placeholder("workspaceId"))))
    .limit(1)
    .prepare(),
);

/** Returns the render if it belongs to the workspace, else null. */
export const findRender = (db: Queries, workspaceId: string, id: string) => ownRenderQuery(db, { id, workspaceId });

/** Returns a render of any workspace. For jobs. */
export async function getRender(db: Queries, id: string): Promise<Render | null> {
  const [row] = await db.select().from(renders).where(eq(renders.id, id)).limit(1);
  return row ?? null;
}

/** Returns the render of an identical request, unless it failed or was cancelled. */
export async function findIdenticalRender(
  db: Queries,
  workspaceId: string,
  requestHash: string,
): Promise<Render | null> {
  const [row] = await db
    .select()
    .from(renders)
    .where(
      and(
        eq(renders.workspace_id, workspaceId),
        eq(renders.request_hash, requestHash),
        notInArray(renders.state, ["failed", "cancelled"]),
      ),
    )
    .orderBy(desc(renders.id))
    .limit(1);
  return row ?? null;
}

/** Lists the workspace's renders, newest first. */
export async function listRenders(
  db: Queries,
  workspaceId: string,
  filter: {
    assetId: string | null;
    cutId: string | null;
    state: RenderState | null;
    afterId: string | null;
    limit: number;
  },
): Promise<RowPage<Render>> {
  const rows = await db
    .select()
    .from(renders)
    .where(
      and(
        eq(renders.workspace_id, workspaceId),
        filter.assetId ? eq(renders.asset_id, filter.assetId) : undefined,
        filter.cutId ? eq(renders.cut_id, filter.cutId) : undefined,
        filter.state ? eq(renders.state, filter.state) : undefined,
        filter.afterId ? lt(renders.id, filter.afterId) : undefined,
      ),
    )
    .orderBy(desc(renders.id))
    .limit(filter.limit + 1);
  return toRowPage(rows, filter.limit);
}

/** Lists the renders of the asset in any state. */
export const listAssetRenders = (db: Queries, assetId: string): Promise<Render[]> =>
  db.select().from(renders).where(eq(renders.asset_id, assetId));
/** Lists the renders of the cut in any state. */
export const listCutRenders = (db: Queries, cutId: string): Promise<Render[]> =>
  db.select().from(renders).where(eq(renders.cut_id, cutId));

/** Returns those of the IDs that belong to a render with a file, now or later. */
export async function findExistingRenderIds(db: Queries, ids: string[]): Promise<Set<string>> {
  const rows = await db
    .select({ id: renders.id })
    .from(renders)
    .where(and(isAnyOf(renders.id, ids), notInArray(renders.state, ["failed", "cancelled"])));
  return new Set(rows.map((row) => row.id));
}

/** Changes the render unless it is in a terminal state or does not exist; then returns null. */
export async function updateOpenRender(
  tx: Queries,
  id: string,
  change: Partial<typeof renders.$inferInsert>,
): Promise<Render | null> {
  const [row] = await tx
    .update(renders)
    .set(change)
    .where(and(eq(renders.id, id), isNull(renders.completed_at)))
    .returning();
  return row ?? null;
}

export async function deleteRender(tx: Queries, id: string): Promise<void> {
  await tx.delete(renders).where(eq(renders.id, id));
}
