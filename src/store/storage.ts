/** The storage that workspaces use, according to the rows. No files are read. */
import { and, eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { type CountedRows, isAnyOf, type OffsetPage, only, readValue } from "./rows";
import { assets, renders } from "./schema";
import { users, workspaceMembers, workspaces } from "./schema-accounts";

/** Excludes outputs of pipelines, which have no file of their own and count as renders. */
export const hasOwnFile = sql`cut_id is null and render_id is null`;
const assetBytes = sql<number>`coalesce(sum(${assets.upload_length} + ${assets.derived_bytes}), 0)`;
const renderBytes = sql<number>`coalesce(sum(${renders.size_bytes}), 0)`;

/**
 * Returns the bytes of the workspace's sources, derived files, completed renders and texts: scripts, plans, drafts and
 * parameters. An unfinished upload counts with its full length, so that simultaneous uploads cannot exceed a quota
 * together.
 */
export async function readStorageUsed(db: Queries, workspaceId: string): Promise<number> {
  const [[ofAssets], [ofRenders], [ofTexts]] = await Promise.all([
    db
      .select({ bytes: assetBytes })
      .from(assets)
      .where(and(eq(assets.workspace_id, workspaceId), hasOwnFile)),
    db.select({ bytes: renderBytes }).from(renders).where(eq(renders.workspace_id, workspaceId)),
    db.select({ bytes: workspaces.text_bytes }).from(workspaces).where(eq(workspaces.id, workspaceId)),
  ]);
  return (ofAssets?.bytes ?? 0) + (ofRenders?.bytes ?? 0) + (ofTexts?.bytes ?? 0);
}

/** Returns the bytes of the personal workspace of each user, largest first. Shared workspaces are not included. */
export async function listStorageByUser(db: Queries): Promise<{ email: string; bytes: number }[]> {
  const ofAssets = await db
    .select({ id: assets.workspace_id, bytes: assetBytes })
    .from(assets)
    .where(hasOwnFile)
    .groupBy(assets.workspace_id);
  const ofRenders = await db
    .select({ id: renders.workspace_id, bytes: renderBytes })
    .from(renders)
    .groupBy(renders.workspace_id);
  const ofTexts = await db.select({ id: workspaces.id, bytes: workspaces.text_bytes }).from(workspaces);
  const used = new Map<string, number>();
  for (const { id, bytes } of [...ofAssets, ...ofRenders, ...ofTexts]) used.set(id, (used.get(id) ?? 0) + bytes);
  const accounts = await db.select({ id: users.id, email: users.email }).from(users);
  return accounts
    .map(({ id, email }) => ({ email, bytes: used.get(id) ?? 0 }))
    .sort((a, b) => b.bytes - a.bytes || (a.email < b.email ? -1 : 1));
}

/** `quotaBytes` null means that the configured quota applies. */
export type WorkspaceStorage = {
  id: string;
  name: string;
  isPersonal: boolean;
  quotaBytes: number | null;
  sourceBytes: number;
  derivedBytes: number;
  renderBytes: number;
  textBytes: number;
  owners: { id: string; email: string }[];
};

/** `q` is part of the workspace's name or of an owner's email address. */
export type StorageFilter = { q?: string | undefined };

const matchesStorage = ({ q }: StorageFilter) =>
  q === undefined
    ? sql`true`
    : sql`(instr(lower(w.name), lower(${q})) > 0 OR EXISTS (
        SELECT 1 FROM workspace_members m JOIN users u ON u.id = m.user_id
        WHERE m.workspace_id = w.id AND m.role = 'owner' AND instr(u.email, lower(${q})) > 0))`;

/** Lists the storage used by each workspace, largest first. */
export async function listStorageByWorkspace(
  db: Queries,
  filter: StorageFilter,
  page: OffsetPage,
): Promise<CountedRows<WorkspaceStorage>> {
  const rows = await db.all<Omit<WorkspaceStorage, "isPersonal" | "owners"> & { isPersonal: number }>(sql`
    WITH used(id, sources, derived, renders) AS (
      SELECT workspace_id, sum(upload_length), sum(derived_bytes), 0 FROM assets WHERE ${hasOwnFile} GROUP BY workspace_id
      UNION ALL SELECT workspace_id, 0, 0, sum(size_bytes) FROM renders GROUP BY workspace_id
    )
    SELECT w.id, w.name, w.is_personal AS isPersonal, w.storage_quota_bytes AS quotaBytes,
      coalesce(sum(used.sources), 0) AS sourceBytes, coalesce(sum(used.derived), 0) AS derivedBytes,
      coalesce(sum(used.renders), 0) AS renderBytes, w.text_bytes AS textBytes
    FROM workspaces w LEFT JOIN used ON used.id = w.id
    WHERE ${matchesStorage(filter)}
    GROUP BY w.id
    ORDER BY sourceBytes + derivedBytes + renderBytes + textBytes DESC, w.id
    LIMIT ${page.limit} OFFSET ${page.offset}`);
  const owners = await db
    .select({ workspaceId: workspaceMembers.workspace_id, id: users.id, email: users.email })
    .from(workspaceMembers)
    .innerJoin(users, eq(users.id, workspaceMembers.user_id))
    .where(
      and(
        eq(workspaceMembers.role, "owner"),
        isAnyOf(
          workspaceMembers.workspace_id,
          rows.map((row) => row.id),
        ),
      ),
    );
  const ownersOf = Map.groupBy(owners, (owner) => owner.workspaceId);
  const total = await readValue<number>(db, sql`SELECT count(*) FROM workspaces w WHERE ${matchesStorage(filter)}`);
  return {
    rows: rows.map((row) => ({
      ...row,
      isPersonal: row.isPersonal === 1,
      owners: (ownersOf.get(row.id) ?? []).map(({ id, email }) => ({ id, email })),
    })),
    total: total ?? 0,
  };
}

export type StorageTotals = {
  sourceBytes: number;
  derivedBytes: number;
  renderBytes: number;
  textBytes: number;
  recordings: number;
  renders: number;
};

export const readStorageTotals = (db: Queries) =>
  only(
    db.all<StorageTotals>(sql`
    SELECT ofAssets.sources AS sourceBytes, ofAssets.derived AS derivedBytes, ofAssets.n AS recordings,
      ofRenders.bytes AS renderBytes, ofRenders.n AS renders,
      (SELECT coalesce(sum(text_bytes), 0) FROM workspaces) AS textBytes
    FROM (SELECT coalesce(sum(upload_length), 0) AS sources, coalesce(sum(derived_bytes), 0) AS derived, count(*) AS n
      FROM assets WHERE ${hasOwnFile}) AS ofAssets,
      (SELECT coalesce(sum(size_bytes), 0) AS bytes, count(size_bytes) AS n FROM renders) AS ofRenders`),
  );

/** Returns the size of the database file in bytes, without its write-ahead log. */
export const readDatabaseBytes = async (db: Queries): Promise<number> =>
  (await readValue<number>(db, sql`SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`)) ?? 0;
