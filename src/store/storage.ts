/** The storage that workspaces occupy, according to the rows: no file is read. */
import { eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { assets, renders } from "./schema";
import { users } from "./schema-accounts";

const assetBytes = sql<number>`coalesce(sum(${assets.upload_length} + ${assets.derived_bytes}), 0)`;
const renderBytes = sql<number>`coalesce(sum(${renders.size_bytes}), 0)`;

/**
 * Returns the bytes of the workspace's sources, derived files and completed renders. An unfinished upload counts with its full length, so that
 * simultaneous uploads cannot exceed a quota together.
 */
export async function readStorageUsed(db: Queries, workspaceId: string): Promise<number> {
  const [[ofAssets], [ofRenders]] = await Promise.all([
    db.select({ bytes: assetBytes }).from(assets).where(eq(assets.workspace_id, workspaceId)),
    db.select({ bytes: renderBytes }).from(renders).where(eq(renders.workspace_id, workspaceId)),
  ]);
  return (ofAssets?.bytes ?? 0) + (ofRenders?.bytes ?? 0);
}

/** Returns the bytes of each workspace, largest first. */
export async function listStorageByUser(db: Queries): Promise<{ email: string; bytes: number }[]> {
  const ofAssets = await db
    .select({ id: assets.workspace_id, bytes: assetBytes })
    .from(assets)
    .groupBy(assets.workspace_id);
  const ofRenders = await db
    .select({ id: renders.workspace_id, bytes: renderBytes })
    .from(renders)
    .groupBy(renders.workspace_id);
  const used = new Map<string, number>();
  for (const { id, bytes } of [...ofAssets, ...ofRenders]) used.set(id, (used.get(id) ?? 0) + bytes);
  const accounts = await db.select({ id: users.id, email: users.email }).from(users);
  return accounts
    .map(({ id, email }) => ({ email, bytes: used.get(id) ?? 0 }))
    .sort((a, b) => b.bytes - a.bytes || (a.email < b.email ? -1 : 1));
}
