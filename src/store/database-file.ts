/**
 * Copies and checks database files on the driver's own threads: `VACUUM INTO` and `integrity_check` of a large database
 * take seconds, during which the server must respond. The driver is the same one that has the live database open: a
 * second library would release its locks.
 */
import AsyncDatabase from "libsql/promise";
import { AppError } from "../domain/errors";
import type { RowWithFiles } from "../domain/point-in-time";
import { flushFile } from "../lib/atomic-file";

type AsyncStatement = { all(): Promise<Record<string, unknown>[]> };
type AsyncConnection = {
  exec(sql: string): Promise<void>;
  prepare(sql: string): Promise<AsyncStatement>;
  interrupt(): void;
  close(): void;
};

/** Returns whether SQLite reports that a file is damaged or not a database. */
export const isDamage = (error: unknown): boolean =>
  /^SQLITE_(?:CORRUPT|NOTADB)/.test(String((error as { code?: unknown } | null)?.code));

/**
 * Writes a consistent copy of the database at `from` to `to`, which must not exist, and flushes it unless it is
 * temporary. Does not block writers. Errors: `AppError` `internal_error` if the database is damaged; those of the file
 * system.
 */
export async function copyDatabase(from: string, to: string, { isTemporary = false } = {}): Promise<void> {
  try {
    await withConnection(from, (connection) => connection.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`));
  } catch (error) {
    throw isDamage(error)
      ? new AppError("internal_error", formatDatabaseDamage((error as Error).message), { cause: error })
      : error;
  }
  // VACUUM INTO does not flush its result.
  if (!isTemporary) await flushFile(to);
}

/** Returns a one-line message about the damage and its remedy. `problem` is SQLite's message. */
export const formatDatabaseDamage = (problem: string): string =>
  `The database is damaged (${problem.replaceAll("\n", " ")}). Restore a backup with offcut restore.`;

/** Maximum number of problems that `findDatabaseProblems` returns. */
const MAX_PROBLEMS = 20;

/**
 * Runs SQLite's checks of pages, indexes and foreign keys on a database that is not being written. Returns the
 * problems; empty if it is intact. `isQuick` checks only the pages, which also works during writes. Errors: the
 * signal's reason.
 */
export async function findDatabaseProblems(
  path: string,
  { isQuick = false, signal }: { isQuick?: boolean; signal?: AbortSignal } = {},
): Promise<string[]> {
  const check = isQuick ? "quick_check" : "integrity_check";
  // The driver aborts the process if a closed connection is interrupted.
  const closing = new AbortController();
  try {
    return await withConnection(
      path,
      async (connection) => {
        signal?.throwIfAborted();
        signal?.addEventListener("abort", () => connection.interrupt(), { signal: closing.signal });
        const integrity = await selectAll(connection, `PRAGMA ${check}(${MAX_PROBLEMS})`);
        const problems = integrity.map((row) => String(row[check])).filter((line) => line !== "ok");
        if (isQuick || problems.length > 0) return problems;
        const orphans = await selectAll(connection, "PRAGMA foreign_key_check");
        return orphans
          .slice(0, MAX_PROBLEMS)
          .map((row) => `Row ${row.rowid} of ${row.table} refers to a missing row of ${row.parent}.`);
      },
      closing,
    );
  } catch (error) {
    signal?.throwIfAborted();
    return [(error as Error).message];
  }
}

const BALANCES = `
  SELECT workspace_id, sum(entries) AS entries, sum(credits) AS credits, sum(held) AS held FROM (
    SELECT workspace_id, count(*) AS entries, sum(delta) AS credits, 0 AS held FROM ledger GROUP BY workspace_id
    UNION ALL SELECT workspace_id, 0, 0, sum(amount) FROM holds GROUP BY workspace_id
  ) GROUP BY workspace_id ORDER BY workspace_id`;

/** Reads the assets and renders that have files, the migrations and the balances from a copy of a database. */
export function readDatabaseContents(path: string) {
  return withConnection(path, async (connection) => {
    const list = async (query: string): Promise<RowWithFiles[]> =>
      (await selectAll(connection, query)).map((row) => ({
        id: String(row.id),
        is_complete: Number(row.is_complete) === 1,
      }));
    return {
      assets: await list(
        "SELECT id, state IN ('ready', 'processing', 'pending_payment') AS is_complete FROM assets WHERE cut_id IS NULL AND render_id IS NULL ORDER BY id",
      ),
      renders: await list("SELECT id, state = 'completed' AS is_complete FROM renders ORDER BY id"),
      migrations: (await selectAll(connection, "SELECT name FROM migrations ORDER BY name")).map((row) =>
        String(row.name),
      ),
      balances: (await selectAll(connection, BALANCES)).map((row) => ({
        workspace_id: String(row.workspace_id),
        entries: Number(row.entries),
        credits: Number(row.credits),
        held: Number(row.held),
      })),
    };
  });
}

/**
 * Reads the schema and row counts of a database, without its contents. `tables` has the number of rows of each table,
 * `schema` the SQL of the whole schema.
 */
export const readDatabaseSummary = (path: string) =>
  withConnection(path, async (connection) => {
    const objects = await selectAll(
      connection,
      "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'table' DESC, name",
    );
    const tables: Record<string, number> = {};
    for (const { type, name } of objects) {
      if (type !== "table") continue;
      const [row] = await selectAll(connection, `SELECT count(*) AS n FROM "${String(name).replaceAll('"', '""')}"`);
      tables[String(name)] = Number(row?.n ?? 0);
    }
    const migrations = await selectAll(connection, "SELECT name, run_at FROM migrations ORDER BY name");
    return {
      tables,
      schema: objects.map(({ sql }) => String(sql)),
      migrations: migrations.map(({ name, run_at }) => ({ name: String(name), run_at: Number(run_at) })),
    };
  });

/** Ends all sessions in a copy of a database: those of a restored one may have been revoked after the backup. */
export const deleteAllSessions = (path: string): Promise<void> =>
  withConnection(path, (connection) => connection.exec("DELETE FROM sessions"));

const selectAll = async (connection: AsyncConnection, query: string): Promise<Record<string, unknown>[]> =>
  (await connection.prepare(query)).all();

/** `closing` aborts before the connection is closed. */
async function withConnection<T>(
  path: string,
  run: (connection: AsyncConnection) => Promise<T>,
  closing?: AbortController,
): Promise<T> {
  const connection = new AsyncDatabase(path, {}) as unknown as AsyncConnection;
  try {
    return await run(connection);
  } finally {
    closing?.abort();
    connection.close();
  }
}
