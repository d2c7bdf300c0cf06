/** The search of transcripts. Triggers of `migrations/0028_search.sql` keep the full-text indexes current. */
import { and, asc, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Passage } from "../domain/search/passages";
import { formatWordTerm, isBelowTrigram, type SearchQuery, type SearchTerm } from "../domain/search/query";
import type { Queries } from "./db";
import { exists, only, type RowPage, readValue } from "./rows";
import { assets } from "./schema";
import { correctedPassages, passages, searchBacklog, searchWorkspaces } from "./schema-search";

/** IDs of the passages of workspace n are from n times this number on. */
const IDS_PER_WORKSPACE = 2 ** 32;
const toProjectWord = (projectId: string): string => projectId.replaceAll("-", "");
/** SQLite allows 32,766 parameters in a statement. */
const ROWS_PER_STATEMENT = 1_000;

/** Replaces the passages of an asset, whose transcript has been stored. Does nothing if the asset was deleted. */
export async function replacePassages(tx: Queries, assetId: string, found: readonly Passage[]): Promise<void> {
  const [asset] = await tx.select().from(assets).where(eq(assets.id, assetId));
  if (asset === undefined || found.length === 0) return await deletePassages(tx, assetId);
  const first = (await getWorkspaceNumber(tx, asset.workspace_id)) * IDS_PER_WORKSPACE;
  const ids = sql`SELECT coalesce(max(id), ${first}) AS id FROM passages WHERE id >= ${first} AND id < ${first + IDS_PER_WORKSPACE}`;
  // Before the deletion: no ID of an earlier transcript is used again.
  const { id: last } = await only(tx.all<{ id: number }>(ids));
  await deletePassages(tx, assetId);
  const rows = found.map(({ start, end, text, ownLength, words, isUnspaced }, n) => ({
    // The first passage has the highest ID.
    id: last + found.length - n,
    asset_id: assetId,
    project_id: toProjectWord(asset.project_id),
    ...{ start, end, text, own_length: ownLength, words: Buffer.from(words), is_unspaced: isUnspaced },
  }));
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    await tx.insert(passages).values(rows.slice(from, from + ROWS_PER_STATEMENT));
}

export type StoredPassage = Omit<Passage, "isUnspaced"> & { id: number };

/** Lists the passages of an asset, with the separator and corrected texts after those of the transcript. */
export async function listPassages(db: Queries, assetId: string): Promise<StoredPassage[]> {
  const rows = await db.select().from(passages).where(eq(passages.asset_id, assetId)).orderBy(asc(passages.id));
  return rows.map(({ id, start, end, text, own_length, words }) => ({
    ...{ id, start, end, text, ownLength: own_length, words },
  }));
}

/** Returns the last of the IDs of `listPassages`. Passages of a new transcript have others. */
export const findLastPassageId = (db: Queries, assetId: string) =>
  readValue<number>(db, sql`SELECT max(id) FROM passages WHERE asset_id = ${assetId}`);

/** Deletes the searchable text of an asset, including corrections in cuts. */
export async function deletePassages(tx: Queries, assetId: string): Promise<void> {
  await tx.delete(passages).where(eq(passages.asset_id, assetId));
}

export const hasPassages = (db: Queries, assetId: string) =>
  exists(db.select({ id: passages.id }).from(passages).where(eq(passages.asset_id, assetId)).limit(1));

/** Lists the passages that a cut corrects. */
export const listCorrectedPassages = (db: Queries, cutId: string) =>
  db.select().from(correctedPassages).where(eq(correctedPassages.cut_id, cutId));

/** As in the triggers of `migrations/0036_search_corrections.sql`. */
const MAX_CUTS_PER_PASSAGE = 8;
const isOfNewestCuts = sql`${correctedPassages.cut_id} IN (
  SELECT newest.cut_id FROM corrected_passages AS newest WHERE newest.passage_id = ${correctedPassages.passage_id}
  ORDER BY newest.cut_id DESC LIMIT ${MAX_CUTS_PER_PASSAGE}
)`;

/** Lists the corrections of these passages in the newest cuts, as in the cuts' texts, newest cuts first. */
export const listCorrections = (db: Queries, passageIds: readonly number[]) =>
  passageIds.length === 0
    ? []
    : db
        .select()
        .from(correctedPassages)
        .where(and(inArray(correctedPassages.passage_id, [...passageIds]), isOfNewestCuts))
        .orderBy(desc(correctedPassages.cut_id));

/** Replaces the passages that a cut corrects. A trigger makes them searchable. */
export async function replaceCorrectedPassages(
  tx: Queries,
  cutId: string,
  found: readonly Omit<StoredPassage, "end">[],
): Promise<void> {
  await deleteCorrectedPassages(tx, cutId);
  const rows = found.map(({ id, start, text, ownLength, words }) => ({
    ...{ passage_id: id, cut_id: cutId, start, text, own_length: ownLength, words: Buffer.from(words) },
  }));
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    await tx.insert(correctedPassages).values(rows.slice(from, from + ROWS_PER_STATEMENT));
}

export async function deleteCorrectedPassages(tx: Queries, cutId: string): Promise<void> {
  await tx.delete(correctedPassages).where(eq(correctedPassages.cut_id, cutId));
}

/** Makes the next start index the transcript of an asset, if it has one. */
export async function enterBacklog(tx: Queries, assetId: string): Promise<void> {
  await tx.run(
    sql`INSERT OR IGNORE INTO search_backlog (asset_id) SELECT id FROM assets WHERE id = ${assetId} AND has_transcript`,
  );
}

export const leaveBacklog = async (tx: Queries, assetId: string): Promise<void> => {
  await tx.delete(searchBacklog).where(eq(searchBacklog.asset_id, assetId));
};

async function getWorkspaceNumber(tx: Queries, workspaceId: string): Promise<number> {
  await tx.insert(searchWorkspaces).values({ workspace_id: workspaceId }).onConflictDoNothing();
  const rows = tx.select().from(searchWorkspaces).where(eq(searchWorkspaces.workspace_id, workspaceId));
  return (await only(rows)).number;
}

/** Lists IDs of assets whose transcripts are not searchable yet, after this one. */
export const listBacklog = async (db: Queries, afterId: string, limit: number): Promise<string[]> =>
  (
    await db
      .select()
      .from(searchBacklog)
      .where(sql`${searchBacklog.asset_id} > ${afterId}`)
      .orderBy(asc(searchBacklog.asset_id))
      .limit(limit)
  ).map((row) => row.asset_id);

/** `marked` is the text with `MARK_START` before and `MARK_END` after each match. */
export type PassageHit = Pick<
  typeof passages.$inferSelect,
  "id" | "asset_id" | "start" | "end" | "own_length" | "words"
> & {
  project_id: string;
  asset_name: string | null;
  marked: string;
};
export const MARK_START = "\u0002";
export const MARK_END = "\u0003";

/** Numbers of matches in all projects whose project is read, one after another, until a page of one project is full. */
const READ_MATCHES = [40, 200, 1_000];

export type SearchFilter = { projectId: string | null; afterId: number | null; limit: number };

/**
 * Lists passages of a workspace's recordings that match the query. `afterId`: the last passage of the previous page.
 */
export async function searchPassages(
  db: Queries,
  workspaceId: string,
  query: SearchQuery,
  { projectId, afterId, limit }: SearchFilter,
): Promise<RowPage<PassageHit>> {
  const [workspace] = await db.select().from(searchWorkspaces).where(eq(searchWorkspaces.workspace_id, workspaceId));
  const match = workspace === undefined ? null : await formatMatch(db, query);
  if (workspace === undefined || match === null) return { rows: [], hasMore: false };
  const first = workspace.number * IDS_PER_WORKSPACE;
  const end = afterId ?? first + IDS_PER_WORKSPACE;
  const table = sql.raw(query.index === "words" ? "passage_words" : "passage_trigrams");
  const inProject = projectId === null ? sql`` : sql` AND a.project_id = ${projectId}`;
  const isListed = sql`a.state = 'ready' AND a.kind = 'source' AND a.workspace_id = ${workspaceId}${inProject}`;
  const matches = (expression: string, from = first + 1) =>
    sql`${table} MATCH ${expression} AND ${table}.rowid >= ${from} AND ${table}.rowid < ${end}`;
  const select = (isMatch: SQL) =>
    // Read in the order of the index, so that reading stops at the end of the page. CROSS JOIN keeps the order of the
    // tables.
    db.all<Omit<PassageHit, "words"> & { words: ArrayBuffer }>(sql`
      SELECT p.id, p.asset_id, a.project_id, coalesce(a.name, a.filename) AS asset_name, p.start, p.end, p.own_length, p.words,
        highlight(${table}, 0, ${MARK_START}, ${MARK_END}) AS marked
      FROM ${table} CROSS JOIN passages p ON p.id = ${table}.rowid CROSS JOIN assets a ON a.id = p.asset_id
      WHERE ${isMatch} AND ${isListed} ORDER BY ${table}.rowid DESC LIMIT ${limit + 1}`);
  // The index has the project of each passage as a word. Beside words that are rarely together, all passages of the
  // project are read to find it. Unless the project is small, this takes longer than to read the project of each match.
  const selectInProject = async (word: string) => {
    for (const count of READ_MATCHES) {
      const found = await db.all<{ id: number }>(
        sql`SELECT rowid AS id FROM ${table} WHERE ${matches(match)} ORDER BY rowid DESC LIMIT ${count + 1}`,
      );
      const rows = await select(matches(match, found.at(-1)?.id ?? end));
      if (found.length <= count || rows.length > limit) return rows;
      if (rows.length === 0) break;
    }
    return select(matches(`${match} AND project_id : "${word}"`));
  };
  const isByProject = projectId !== null && query.index === "words";
  const rows = await (isByProject ? selectInProject(toProjectWord(projectId)) : select(matches(match)));
  const hits = rows.map((row) => ({ ...row, words: Buffer.from(row.words) }));
  return { rows: hits.slice(0, limit), hasMore: hits.length > limit };
}

/** Returns the query as FTS5 reads it. Null if no text can match. */
async function formatMatch(db: Queries, { index, terms }: SearchQuery): Promise<string | null> {
  if (index === "words") return `text : (${terms.map(formatWordTerm).join(" AND ")})`;
  const formatted: string[] = [];
  for (const term of terms) {
    const found = await formatTrigramTerm(db, term);
    if (found === null) return null;
    formatted.push(found);
  }
  return formatted.join(" AND ");
}

/** Trigrams that begin with one or two characters of a query, at most. */
const MAX_TRIGRAMS = 1_000;
const LAST_CHARACTER = "\u{10ffff}";

async function formatTrigramTerm(db: Queries, term: SearchTerm): Promise<string | null> {
  if (!isBelowTrigram(term)) return formatWordTerm({ ...term, isPrefix: false });
  const start = term.text.toLowerCase();
  const found = await db.all<{ term: string }>(
    sql`SELECT term FROM passage_trigram_terms WHERE term >= ${start} AND term < ${start + LAST_CHARACTER}
      AND instr(term, char(10)) = 0 LIMIT ${MAX_TRIGRAMS}`,
  );
  if (found.length === 0) return null;
  return `(${found.map(({ term: trigram }) => `"${trigram.replaceAll('"', '""')}"`).join(" OR ")})`;
}

/** Pages that are merged at a time, which takes a few milliseconds. */
const MERGED_PAGES = 500;

/** Merges a part of the indexes. Words of deleted passages are in them until their part has been merged. */
export async function mergeSearchIndexes(tx: Queries): Promise<void> {
  for (const table of ["passage_words", "passage_trigrams"])
    await tx.run(sql.raw(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', -${MERGED_PAGES})`));
}
