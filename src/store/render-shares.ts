/** Public download links of renders. A link works while its row exists and its creator has write access. */
import { and, desc, eq, gte, isNull, lt, ne } from "drizzle-orm";
import type { Queries } from "./db";
import { type CountedRows, type OffsetPage, rowsOf } from "./rows";
import { users, workspaceMembers } from "./schema-accounts";
import { renderShares } from "./schema-cuts";

const renderShareRows = rowsOf(renderShares);

export type RenderShare = typeof renderShares.$inferSelect;

export const insertRenderShare = renderShareRows.add;

/** Returns a link of any workspace, or null. */
export const findRenderShareById = renderShareRows.findById;

export async function findRenderShare(db: Queries, renderId: string, id: string): Promise<RenderShare | null> {
  const share = await findRenderShareById(db, id);
  return share?.render_id === renderId ? share : null;
}

/** Lists the active links of a render, newest first. */
export async function listRenderShares(
  db: Queries,
  renderId: string,
  now: number,
  page: OffsetPage,
): Promise<CountedRows<RenderShare>> {
  const all = await db
    .select({ share: renderShares })
    .from(renderShares)
    .innerJoin(users, eq(users.id, renderShares.created_by))
    .innerJoin(
      workspaceMembers,
      and(
        eq(workspaceMembers.workspace_id, renderShares.workspace_id),
        eq(workspaceMembers.user_id, renderShares.created_by),
      ),
    )
    .where(
      and(
        eq(renderShares.render_id, renderId),
        gte(renderShares.expires_at, now),
        ne(workspaceMembers.role, "viewer"),
        isNull(users.disabled_at),
        isNull(users.deleted_at),
      ),
    )
    .orderBy(desc(renderShares.id));
  return { rows: all.slice(page.offset, page.offset + page.limit).map(({ share }) => share), total: all.length };
}

export const deleteRenderShare = renderShareRows.deleteById;

export const deleteRenderSharesOf = (tx: Queries, workspaceId: string, userId: string) =>
  renderShareRows.delete(tx, { workspace_id: workspaceId, created_by: userId });

/** Deletes the links that a user has created in any workspace. */
export const deleteRenderSharesBy = renderShareRows.deleteBy(renderShares.created_by);

export const deleteRenderSharesExpiredBefore = renderShareRows.deleteBy(renderShares.expires_at, lt);
