/** Data exports of users. A user has at most one that is pending and, because a new one replaces the older, one that can be downloaded. */
import { and, eq, lte, sql } from "drizzle-orm";
import type { SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import { isAnyOf } from "./any-of";
import type { Queries } from "./db";
import { findRow, insertRow, listIds, listRows, updateRow } from "./rows";
import { dataExports } from "./schema-notifications";

export type DataExport = typeof dataExports.$inferSelect;

export const insertDataExport = (tx: Queries, row: typeof dataExports.$inferInsert): Promise<DataExport> =>
  insertRow(tx, dataExports, row);

export const getDataExport = (db: Queries, id: string): Promise<DataExport | null> =>
  findRow(db, dataExports, eq(dataExports.id, id));

/** Returns the user's export in this state, of which there is at most one. */
export const findDataExport = (db: Queries, userId: string, state: "pending" | "ready"): Promise<DataExport | null> =>
  findRow(db, dataExports, and(eq(dataExports.user_id, userId), eq(dataExports.state, state)));

/**
 * Returns the pending export whose turn it is: users whose last export ended longest ago come first, so that nobody who exports again and again
 * keeps others waiting. `excluded`: IDs of exports that wait after a failure.
 */
export async function findNextDataExport(db: Queries, excluded: string[]): Promise<DataExport | null> {
  const lastEnd = sql`(SELECT max(other.finished_at) FROM data_exports other WHERE other.user_id = ${dataExports.user_id})`;
  return findRow(
    db,
    dataExports,
    and(eq(dataExports.state, "pending"), sql`not ${isAnyOf(dataExports.id, excluded)}`),
    lastEnd,
    dataExports.requested_at,
    dataExports.id,
  );
}

/** Lists all exports that can be downloaded, or could until they expired. */
export const listReadyExports = (db: Queries): Promise<DataExport[]> =>
  db.select().from(dataExports).where(eq(dataExports.state, "ready"));

/** Lists the exports that can be downloaded until `now` at the latest. */
export const listExpiredExports = (db: Queries, now: number): Promise<DataExport[]> =>
  listRows(db, dataExports, and(eq(dataExports.state, "ready"), lte(dataExports.expires_at, now)));

/** Returns which of these exports may have files. */
export const findExportIdsWithFiles = async (db: Queries, ids: string[]): Promise<Set<string>> =>
  new Set(
    await listIds(
      db
        .select({ id: dataExports.id })
        .from(dataExports)
        .where(and(isAnyOf(dataExports.id, ids), sql`${dataExports.state} in ('pending', 'ready')`)),
    ),
  );

/** Counts a start of a pending export, and returns it; null when it is not pending any more. */
export const countExportStart = (tx: Queries, id: string): Promise<DataExport | null> =>
  updateDataExport(tx, id, "pending", { failures: sql`${dataExports.failures} + 1` });

/** Changes an export in the state `from`. Returns null when it does not exist or is in another state by now. */
export const updateDataExport = (
  tx: Queries,
  id: string,
  from: "pending" | "ready",
  change: SQLiteUpdateSetSource<typeof dataExports>,
): Promise<DataExport | null> =>
  updateRow(tx, dataExports, change, and(eq(dataExports.id, id), eq(dataExports.state, from)));
