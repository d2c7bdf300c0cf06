/** The recorded state of the files in the media folder: their hashes, and detected problems. */
import { and, asc, count, desc, eq, gt, isNotNull, isNull, lt, min, sql } from "drizzle-orm";
import type { FileProblem } from "../domain/states";
import type { Queries } from "./db";
import { type CountedRows, deleteRows, findRow, isAnyOf, type OffsetPage, readPage, updateRows } from "./rows";
import { fileChecks } from "./schema-upkeep";

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
export const findFileCheck = (db: Queries, path: string): Promise<FileCheck | null> =>
  findRow(db, fileChecks, eq(fileChecks.path, path));

/** Stores a check, replacing an earlier one of the same file but keeping its ID. */
export async function saveFileCheck(tx: Queries, check: FileCheck): Promise<void> {
  const { id: _id, path: _path, created_at: _time, ...change } = check;
  await tx.insert(fileChecks).values(check).onConflictDoUpdate({ target: fileChecks.path, set: change });
}

export const updateFileCheck = (tx: Queries, id: string, change: Partial<FileCheck>): Promise<boolean> =>
  updateRows(tx, fileChecks, change, eq(fileChecks.id, id));

export const deleteFileChecks = (tx: Queries, ids: string[]): Promise<void> =>
  deleteRows(tx, fileChecks, isAnyOf(fileChecks.id, ids));

/** Returns when the first file was checked; null if none was. */
export async function readFirstCheck(db: Queries): Promise<number | null> {
  const [row] = await db.select({ time: min(fileChecks.created_at) }).from(fileChecks);
  return row?.time ?? null;
}

/** A file with a problem that no administrator has accepted. */
export type OpenFinding = FileCheck & { problem: FileProblem; found_at: number };

/** Lists the problems that were not accepted, newest first. */
export async function listOpenFindings(
  db: Queries,
  { problem }: { problem?: FileProblem | undefined },
  page: OffsetPage,
): Promise<CountedRows<OpenFinding>> {
  const matches = and(isOpen, problem === undefined ? undefined : eq(fileChecks.problem, problem));
  const query = db.select().from(fileChecks).where(matches).orderBy(desc(fileChecks.found_at), desc(fileChecks.id));
  return readPage(query, page, db.$count(fileChecks, matches)) as Promise<CountedRows<OpenFinding>>;
}

/** Returns the problem with this ID if it was not accepted, otherwise null. */
export async function findOpenFinding(db: Queries, id: string): Promise<OpenFinding | null> {
  return findRow(db, fileChecks, and(eq(fileChecks.id, id), isOpen)) as Promise<OpenFinding | null>;
}

/** Counts the problems that were not accepted. */
export const countOpenFindings = (db: Queries): Promise<number> => db.$count(fileChecks, isOpen);

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
