/** Data exports of users. A user has at most one pending export and one that can be downloaded. */
import { and, eq, inArray, lte, sql } from "drizzle-orm";
import type { SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { Queries } from "./db";
import { isAnyOf, rowsOf } from "./rows";
import { dataExports } from "./schema-notifications";

const dataExportRows = rowsOf(dataExports);

export type DataExport = typeof dataExports.$inferSelect;

export const insertDataExport = dataExportRows.insert;

export const findDataExportById = dataExportRows.findById;

/** Returns the user's export in this state; each user has at most one. */
export const findDataExport = (db: Queries, userId: string, state: "pending" | "ready") =>
  dataExportRows.find(db, { user_id: userId, state });

/**
 * Returns the next pending export: users whose last export ended longest ago come first, so that repeated exports do
 * not delay other users. `excluded`: IDs of exports that wait after a failure.
 */
export async function findNextDataExport(db: Queries, excluded: string[]) {
  const lastEnd = sql`(SELECT max(other.finished_at) FROM data_exports other WHERE other.user_id = ${dataExports.user_id})`;
  return dataExportRows.find(
    db,
    and(eq(dataExports.state, "pending"), sql`not ${isAnyOf(dataExports.id, excluded)}`),
    lastEnd,
    dataExports.requested_at,
    dataExports.id,
  );
}

/** Lists all exports that can be downloaded, or could be until they expired. */
export const listReadyExports = (db: Queries) => dataExportRows.list(db, { state: "ready" });

export const listExpiredExports = (db: Queries, now: number) =>
  dataExportRows.list(db, and(eq(dataExports.state, "ready"), lte(dataExports.expires_at, now)));

/** Returns the IDs of these exports that may have files. */
export const findExportIdsWithFiles = async (db: Queries, ids: string[]) =>
  new Set(
    await dataExportRows.listIds(
      db,
      and(isAnyOf(dataExports.id, ids), inArray(dataExports.state, ["pending", "ready"])),
    ),
  );

/** Counts a start of a pending export and returns the export; null if it is no longer pending. */
export const countExportStart = (tx: Queries, id: string) =>
  updateDataExport(tx, id, "pending", { failures: sql`${dataExports.failures} + 1` });

/** Changes an export in the state `from`. Returns null if it does not exist or is now in another state. */
export const updateDataExport = (
  tx: Queries,
  id: string,
  from: "pending" | "ready",
  change: SQLiteUpdateSetSource<typeof dataExports>,
) => dataExportRows.update(tx, change, { id, state: from });
