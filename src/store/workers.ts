/** Workers on other machines, their join tokens, and their runs. */
import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { type CountedRows, first, isAnyOf, type OffsetPage, only, prepareRowQuery, readPage, rowsOf } from "./rows";
import { workerRuns, workers, workerTokens } from "./schema-workers";

const workerRunRows = rowsOf(workerRuns);
const workerTokenRows = rowsOf(workerTokens);
const workerRows = rowsOf(workers);

export type WorkerToken = typeof workerTokens.$inferSelect;
export type WorkerRow = typeof workers.$inferSelect;
export type WorkerRun = typeof workerRuns.$inferSelect;

/** A token with the worker that has joined with it, if any. */
export type TokenWithWorker = { token: WorkerToken; workerId: string | null };

const isValid = isNull(workerTokens.revoked_at);

export const insertWorkerToken = workerTokenRows.insert;

const validTokenQuery = prepareRowQuery<{ hash: string }, WorkerToken>((db) =>
  db
    .select()
    .from(workerTokens)
    .where(and(eq(workerTokens.hash, sql.placeholder("hash")), isValid))
    .limit(1)
    .prepare(),
);

export const findValidWorkerToken = (db: Queries, hash: string) => validTokenQuery(db, { hash });

/** Returns the token with this name or ID if it is not revoked, otherwise null. */
export const findWorkerToken = (db: Queries, by: { name: string } | { id: string }) =>
  workerTokenRows.find(db, and("name" in by ? eq(workerTokens.name, by.name) : eq(workerTokens.id, by.id), isValid));

export const countWorkerTokens = (db: Queries) => workerTokenRows.count(db, isValid);

/** Lists the tokens that are not revoked, by name. */
export const listWorkerTokens = (db: Queries, page: OffsetPage): Promise<CountedRows<TokenWithWorker>> => {
  const query = db
    .select({ token: workerTokens, workerId: workers.id })
    .from(workerTokens)
    .leftJoin(workers, eq(workers.token_id, workerTokens.id))
    .where(isValid)
    .orderBy(asc(workerTokens.name));
  return readPage(query, page, countWorkerTokens(db));
};

/** Revokes a token. Returns it, or null if it was already revoked. */
export const revokeWorkerToken = (tx: Queries, id: string, now: number) =>
  workerTokenRows.update(tx, { revoked_at: now }, and(eq(workerTokens.id, id), isValid));

/** Deletes tokens that were revoked before `time`, with their workers and runs. */
export const deleteRevokedTokensBefore = workerTokenRows.deleteBy(workerTokens.revoked_at, lt);

/** A worker's announcement and its time. */
export type AnnouncedWorker = Omit<typeof workers.$inferInsert, "id" | "is_draining" | "speed" | "created_at">;

/** Stores a joining worker: inserts a row with `newId`, or updates its row. Returns null if its token was revoked. */
export async function saveJoinedWorker(
  tx: Queries,
  newId: string,
  announced: AnnouncedWorker,
): Promise<WorkerRow | null> {
  const { token_id: tokenId, last_seen_at: now } = announced;
  const [token] = await tx
    .update(workerTokens)
    .set({ last_used_at: now })
    .where(and(eq(workerTokens.id, tokenId), isValid))
    .returning({ id: workerTokens.id });
  if (!token) return null;
  return only(
    tx
      .insert(workers)
      .values({ id: newId, created_at: now, ...announced })
      .onConflictDoUpdate({ target: workers.token_id, set: announced })
      .returning(),
  );
}

export async function touchWorker(
  tx: Queries,
  id: string,
  heartbeat: Pick<WorkerRow, "token_id" | "free_bytes" | "speed" | "last_seen_at">,
): Promise<void> {
  const { token_id: tokenId, ...change } = heartbeat;
  await tx.update(workers).set(change).where(eq(workers.id, id));
  await tx.update(workerTokens).set({ last_used_at: heartbeat.last_seen_at }).where(eq(workerTokens.id, tokenId));
}

export const setWorkerDraining = (tx: Queries, id: string, isDraining: boolean) =>
  workerRows.updateAll(tx, { is_draining: isDraining }, { id });

/** A worker, and when its token was revoked. */
export type ListedWorker = { worker: WorkerRow; revokedAt: number | null };

const selectWorkers = (db: Queries) =>
  db
    .select({ worker: workers, revokedAt: workerTokens.revoked_at })
    .from(workers)
    .innerJoin(workerTokens, eq(workerTokens.id, workers.token_id));

/** Lists the workers whose token is not revoked, by name. */
export const listWorkers = (db: Queries): Promise<ListedWorker[]> =>
  selectWorkers(db).where(isValid).orderBy(asc(workers.name));

export async function listRevokedWorkerIds(db: Queries): Promise<string[]> {
  const rows = await selectWorkers(db).where(isNotNull(workerTokens.revoked_at));
  return rows.map(({ worker }) => worker.id);
}

/** Returns a worker, even if revoked, or null. */
export const findWorker = (db: Queries, id: string) => first(selectWorkers(db).where(eq(workers.id, id)).limit(1));

/** Stores ended runs, except for those that are already stored or whose worker was deleted in the meantime. */
export async function insertWorkerRuns(tx: Queries, runs: WorkerRun[]): Promise<void> {
  const ids = [...new Set(runs.map((run) => run.worker_id))];
  const known = await tx.select({ id: workers.id }).from(workers).where(inArray(workers.id, ids));
  const stored = runs.filter((run) => known.some(({ id }) => id === run.worker_id));
  if (stored.length > 0) await tx.insert(workerRuns).values(stored).onConflictDoNothing();
}

/** Lists the runs of a worker, latest first. */
export const listWorkerRuns = (db: Queries, workerId: string, limit: number): Promise<WorkerRun[]> =>
  db
    .select()
    .from(workerRuns)
    .where(eq(workerRuns.worker_id, workerId))
    .orderBy(desc(workerRuns.ended_at), desc(workerRuns.id))
    .limit(limit);

export const listRunsOf = (db: Queries, workerId: string, ids: string[]) =>
  workerRunRows.list(db, and(isAnyOf(workerRuns.id, ids), eq(workerRuns.worker_id, workerId)));

/** Deletes runs that ended before `time`, and all but the last `kept` of each worker. */
export async function deleteOldWorkerRuns(tx: Queries, time: number, kept: number): Promise<void> {
  await tx.delete(workerRuns).where(lt(workerRuns.ended_at, time));
  for (const { id } of await tx.select({ id: workers.id }).from(workers)) {
    const [oldest] = await tx
      .select({ endedAt: workerRuns.ended_at })
      .from(workerRuns)
      .where(eq(workerRuns.worker_id, id))
      .orderBy(desc(workerRuns.ended_at), desc(workerRuns.id))
      .limit(1)
      .offset(kept - 1);
    if (oldest)
      await tx.delete(workerRuns).where(and(eq(workerRuns.worker_id, id), lt(workerRuns.ended_at, oldest.endedAt)));
  }
}
