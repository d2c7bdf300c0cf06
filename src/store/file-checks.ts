/** The recorded state of the files in the media folder: their hashes, and detected problems. */
import { and, asc, count, desc, eq, gt, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { FileProblem } from "../domain/states";
import type { Queries } from "./db";
import { type CountedRows, isAnyOf, matchesFilter, type OffsetPage, readValue, rowsOf } from "./rows";
import { fileChecks } from "./schema-upkeep";

const fileCheckRows = rowsOf(fileChecks);

export type FileCheck = typeof fileChecks.$inferSelect;

const isOpen = and(isNotNull(fileChecks.problem), isNull(fileChecks.accepted_at));

/** Lists the checks of files in a folder, such as `media/ID`. */
export const listFileChecksIn = (db: Queries, folder: string): Promise<FileCheck[]> =>
  db
    .select()
    .from(fileChecks)
    // `0` is the character after `/`.
    .where(and(gt(fileChecks.path, `${folder}/`), lt(fileChecks.path, `${folder}0`)));

/** Lists checks by path, after this one. */
export const listFileChecksAfter = (db: Queries, path: string, limit: number): Promise<FileCheck[]> =>
  db.select().from(fileChecks).where(gt(fileChecks.path, path)).orderBy(asc(fileChecks.path)).limit(limit);

/** Returns the check of a file; null if it was never read and has no problem. */
export const findFileCheck = fileCheckRows.findBy(fileChecks.path);

/** Stores a check, replacing an earlier one of the same file but keeping its ID. */
export async function saveFileCheck(tx: Queries, check: FileCheck): Promise<void> {
  const { id: _id, path: _path, created_at: _time, ...change } = check;
  await tx.insert(fileChecks).values(check).onConflictDoUpdate({ target: fileChecks.path, set: change });
}

export const updateFileCheck = fileCheckRows.updateById;

export const deleteFileChecks = (tx: Queries, ids: string[]) => fileCheckRows.delete(tx, isAnyOf(fileChecks.id, ids));

/** Returns when the first file was checked; null if none was. */
export const readFirstCheck = (db: Queries): Promise<number | null> =>
  readValue(db, sql`SELECT min(created_at) FROM ${fileChecks}`);

/** A file with a problem that no administrator has accepted. */
export type OpenFinding = FileCheck & { problem: FileProblem; found_at: number };

/** Lists the problems that were not accepted, newest first. */
export async function listOpenFindings(db: Queries, { problem }: { problem?: FileProblem }, page: OffsetPage) {
  const matches = and(isOpen, matchesFilter(fileChecks, { problem }));
  return fileCheckRows.listPage(db, matches, page, desc(fileChecks.found_at), desc(fileChecks.id)) as Promise<
    CountedRows<OpenFinding>
  >;
}

/** Returns the problem with this ID if it was not accepted, otherwise null. */
export async function findOpenFinding(db: Queries, id: string) {
  return fileCheckRows.find(db, and(eq(fileChecks.id, id), isOpen)) as Promise<OpenFinding | null>;
}

export const countOpenFindings = (db: Queries) => fileCheckRows.count(db, isOpen);

/** Returns the number of files that were read, and the times of the latest and the oldest read. */
export async function readCheckTotals(
  db: Queries,
): Promise<{ files: number; lastCheckedAt: number | null; oldestCheckedAt: number | null }> {
  const [row] = await db
    .select({
      files: count(fileChecks.checked_at),
      last: sql<number | null>`max(${fileChecks.checked_at})`,
      oldest: sql<number | null>`min(${fileChecks.checked_at})`,
    })
    .from(fileChecks);
  return { files: row?.files ?? 0, lastCheckedAt: row?.last ?? null, oldestCheckedAt: row?.oldest ?? null };
}
