/**
 * The database: one libSQL file with one writing and one reading connection.
 *
 * Writes are queued and committed in groups, each caller in its own savepoint, because with `synchronous=FULL` a commit
 * costs a disk flush, and one flush can serve many callers.
 */

import type { Client, InStatement, ResultSet } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";
import { succeeds } from "../lib/error-codes";
import { yieldToEventLoop } from "../lib/event-loop";
import { openConnection, type StoreConnection } from "./connection";
import { copyDatabase, isDamage } from "./database-file";

/** Runs queries: the reading connection or an open transaction. */
export type Queries = BaseSQLiteDatabase<"async", ResultSet, Record<string, never>>;

type PendingWrite = {
  work: (tx: Queries) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
};

/** Bounds how long the first caller of a group waits for the commit. */
const MAX_WRITES_PER_COMMIT = 64;

/** Counted by triggers: `migrations/0023_accounts_revision.sql`. */
const READ_REVISION = "SELECT revision FROM accounts_revision";

/** Opens the database file at `path`, creating it if necessary. `migrate.ts` creates the tables. */
export async function openStore(path: string) {
  let damage: string | null = null;
  const damageListeners: ((problem: string) => void)[] = [];
  const reportDamage = (problem: string): void => {
    if (damage !== null) return;
    damage = problem;
    for (const listener of damageListeners) listener(problem);
  };
  const watch = (query: Promise<ResultSet>) =>
    query.catch((error) => {
      if (isDamage(error)) reportDamage((error as Error).message);
      throw error;
    });
  const writer = openForStore(path);
  const reader = openForStore(path);
  const tx = connectDrizzle((statement) => {
    if (!writer.isInTransaction()) throw new Error("query on the writing connection outside a transaction");
    return watch(writer.execute(statement));
  });
  let storedRevision: unknown;
  let accountsRevision = 0;
  const waiting: PendingWrite[] = [];
  const listeners: (() => void)[] = [];
  let draining: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // The driver is synchronous: waiting a tick lets the other writes of this tick join the group.
      await yieldToEventLoop();
      await commitWrites(writer, tx, waiting.splice(0, MAX_WRITES_PER_COMMIT), (current) => {
        // A revision that cannot be read may have changed: a cache must not keep revoked entries.
        if (current === null || current !== storedRevision) accountsRevision++;
        storedRevision = current;
      });
      for (const listener of listeners) listener();
    }
    draining = null;
  }

  return {
    /** For reads outside a transaction: sees all commits. */
    read: connectDrizzle((statement) => watch(reader.execute(statement))),
    /**
     * Runs `work` in a write transaction and resolves when it is on disk. If `work` throws, its changes are rolled back
     * and the error is rethrown. `work` must await only queries on its own `tx`, because all other writes wait in the
     * meantime.
     */
    write: <T>(work: (tx: Queries) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
        draining ??= drain();
      }),
    /** Calls `listener` after each commit. */
    onCommit: (listener: () => void) => {
      listeners.push(listener);
    },
    /**
     * Changes with the commits that changed accounts, keys, sessions, workspaces or their members, so that caches of
     * them can be invalidated.
     */
    accountsRevision: () => accountsRevision,
    /** Writes a consistent copy to `target`, which must not exist, and flushes it unless it is temporary. */
    copyTo: (target: string, options?: { isTemporary?: boolean }) =>
      copyDatabase(path, target, options).catch((error) => {
        const { cause } = error as Error;
        if (isDamage(cause)) reportDamage((cause as Error).message);
        throw error;
      }),
    /** Returns the damage that a query or check has found, as SQLite words it, or null. Cleared by a restart. */
    findDamage: () => damage,
    reportDamage,
    /** Calls `listener` when the first damage is found. */
    onDamage: (listener: (problem: string) => void) => {
      damageListeners.push(listener);
    },
    isAlive: () => succeeds(reader.execute("SELECT 1")),
    close: async () => {
      while (draining) await draining;
      writer.close();
      reader.close();
    },
  };
}

export type Store = Awaited<ReturnType<typeof openStore>>;

function openForStore(path: string): StoreConnection {
  const connection = openConnection(path);
  // WAL first, because the others may depend on it. FULL because an acknowledged charge must survive a power cut.
  for (const pragma of [
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "busy_timeout=5000",
    "temp_store=MEMORY",
  ]) {
    connection.run(`PRAGMA ${pragma}`);
  }
  return connection;
}

const connectDrizzle = (execute: (statement: InStatement) => Promise<ResultSet>): Queries =>
  drizzle({ execute } as Client) as Queries;

async function commitWrites(
  writer: StoreConnection,
  tx: Queries,
  group: PendingWrite[],
  committed: (accountsRevision: unknown) => void,
): Promise<void> {
  const settled: (() => void)[] = [];
  let accountsRevision: unknown;
  try {
    writer.run("BEGIN IMMEDIATE");
    for (const one of group) {
      writer.run("SAVEPOINT one");
      try {
        const value = await one.work(tx);
        settled.push(() => one.resolve(value));
      } catch (error) {
        // A full disk closes the whole transaction.
        if (!writer.isInTransaction()) throw error;
        writer.run("ROLLBACK TO one");
        settled.push(() => one.reject(error));
      }
      writer.run("RELEASE one");
    }
    // The table is missing before the first migration.
    accountsRevision = (await writer.execute(READ_REVISION).catch(() => null))?.rows[0]?.revision ?? null;
    writer.run("COMMIT");
  } catch (error) {
    // The transaction failed (disk full, I/O error), so nothing of the group is stored.
    rollBack(writer);
    for (const one of group) one.reject(error);
    return;
  }
  // Called before the callers resolve: a caller that has revoked a key must not see it accepted again.
  committed(accountsRevision);
  for (const settle of settled) settle();
}

function rollBack(writer: StoreConnection): void {
  try {
    if (writer.isInTransaction()) writer.run("ROLLBACK");
  } catch {
    // The next group fails when it begins.
  }
}
