/**
 * The database: one libSQL file with one writing and one reading connection.
 *
 * Writes are queued and committed in groups, each caller in its own savepoint, because with `synchronous=FULL` a commit costs a disk flush,
 * and one flush can serve many callers.
 */

import { type Client, createClient, type InStatement, type ResultSet, type Transaction } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";
import { copyDatabase, isDamage } from "./database-file";

/** Runs queries: the reading connection or an open transaction. */
export type Queries = BaseSQLiteDatabase<"async", ResultSet, Record<string, never>>;

export type Store = {
  /** For reads outside a transaction: sees all commits. */
  read: Queries;
  /**
   * Runs `work` in a write transaction and resolves when it is on disk. If `work` throws, its changes are rolled back and the error is
   * rethrown. `work` must await only queries on its own `tx`, because all other writes wait meanwhile.
   */
  write<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  /** Calls `listener` after each commit. */
  onCommit(listener: () => void): void;
  /** Changes with the commits that changed accounts, keys, sessions, workspaces or their members, so that caches of them can be invalidated. */
  accountsRevision(): number;
  /** Writes a consistent copy to `path`, which must not exist, and flushes it unless it is temporary. */
  copyTo(path: string, options?: { isTemporary?: boolean }): Promise<void>;
  /** Returns whether the database responds. */
  isAlive(): Promise<boolean>;
  /** Returns the damage that a query or check has found, as SQLite words it, or null. Cleared by a restart. */
  findDamage(): string | null;
  reportDamage(problem: string): void;
  /** Calls `listener` when the first damage is found. */
  onDamage(listener: (problem: string) => void): void;
  close(): Promise<void>;
};

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
export async function openStore(path: string): Promise<Store> {
  let damage: string | null = null;
  const damageListeners: ((problem: string) => void)[] = [];
  const reportDamage = (problem: string): void => {
    if (damage !== null) return;
    damage = problem;
    for (const listener of damageListeners) listener(problem);
  };
  const watch: WatchQuery = (query) =>
    query.catch((error) => {
      if (isDamage(error)) reportDamage((error as Error).message);
      throw error;
    });
  const writeClient = await openConnection(path);
  const reader = await openConnection(path);
  const writer = createWriterConnection(writeClient, watch);
  let storedRevision: unknown;
  let accountsRevision = 0;
  const waiting: PendingWrite[] = [];
  const listeners: (() => void)[] = [];
  let draining: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // The driver is synchronous: waiting a tick lets the other writes of this tick join the group.
      await waitForNextTick();
      await commitWrites(writer, waiting.splice(0, MAX_WRITES_PER_COMMIT), (current) => {
        // One that cannot be read may have changed: a cache must not keep what was revoked.
        if (current === null || current !== storedRevision) accountsRevision++;
        storedRevision = current;
      });
      for (const listener of listeners) listener();
    }
    draining = null;
  }

  return {
    read: drizzle({ execute: (statement: InStatement) => watch(reader.execute(statement)) } as Client) as Queries,
    write: <T>(work: (tx: Queries) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
        draining ??= drain();
      }),
    onCommit: (listener) => {
      listeners.push(listener);
    },
    accountsRevision: () => accountsRevision,
    copyTo: (target, options) =>
      copyDatabase(path, target, options).catch((error) => {
        const { cause } = error as Error;
        if (isDamage(cause)) reportDamage((cause as Error).message);
        throw error;
      }),
    findDamage: () => damage,
    reportDamage,
    onDamage: (listener) => {
      damageListeners.push(listener);
    },
    isAlive: () =>
      reader.execute("SELECT 1").then(
        () => true,
        () => false,
      ),
    close: async () => {
      while (draining) await draining;
      writeClient.close();
      reader.close();
    },
  };
}

const waitForNextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function openConnection(path: string): Promise<Client> {
  // A pool of one connection, because the PRAGMAs below apply only to the connection that runs them.
  const client = createClient({ url: `file:${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}`, concurrency: 1 });
  // WAL first, because the others may depend on it. FULL because an acknowledged charge must survive a power cut.
  for (const pragma of [
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "busy_timeout=5000",
    "temp_store=MEMORY",
  ]) {
    await client.execute(`PRAGMA ${pragma}`);
  }
  return client;
}

/** The writing connection. `db` uses the transaction of the current group and stays valid, for prepared queries. */
type WriterConnection = { db: Queries; begin(): Promise<Transaction>; end(): void };

type WatchQuery = <T>(query: Promise<T>) => Promise<T>;

function createWriterConnection(client: Client, watch: WatchQuery): WriterConnection {
  let open: Transaction | null = null;
  const current = (): Transaction => {
    if (!open) throw new Error("query on the writing connection outside a transaction");
    return open;
  };
  const transactionClient = { execute: (statement: InStatement) => watch(current().execute(statement)) } as Client;
  return {
    db: drizzle(transactionClient) as Queries,
    begin: async () => {
      open = await client.transaction("write");
      return open;
    },
    end: () => {
      open?.close();
      open = null;
    },
  };
}

async function commitWrites(
  writer: WriterConnection,
  group: PendingWrite[],
  committed: (accountsRevision: unknown) => void,
): Promise<void> {
  const settled: (() => void)[] = [];
  let accountsRevision: unknown;
  try {
    const transaction = await writer.begin();
    for (const one of group) {
      await transaction.executeMultiple("SAVEPOINT one");
      try {
        const value = await one.work(writer.db);
        settled.push(() => one.resolve(value));
      } catch (error) {
        // A full disk closes the whole transaction.
        if (transaction.closed) throw error;
        await transaction.executeMultiple("ROLLBACK TO one");
        settled.push(() => one.reject(error));
      }
      await transaction.executeMultiple("RELEASE one");
    }
    // The table is missing before the first migration.
    accountsRevision = await transaction.execute(READ_REVISION).then(
      ({ rows }) => rows[0]?.revision ?? null,
      () => null,
    );
    await transaction.commit();
  } catch (error) {
    // The transaction failed (disk full, I/O error), so nothing of the group is stored.
    for (const one of group) one.reject(error);
    return;
  } finally {
    writer.end();
  }
  // Called before the callers resolve: a caller that has revoked a key must not see it accepted again.
  committed(accountsRevision);
  for (const settle of settled) settle();
}
