import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import { sql } from "drizzle-orm";
import { listUnmeasuredAssets } from "../../../src/store/assets";
import { openStore, type Store } from "../../../src/store/db";
import { migrate } from "../../../src/store/migrate";
import * as tables from "../../../src/store/schema";
import * as outboxTables from "../../../src/store/schema-outbox";
import { temporaryFolder } from "../../temporary-folder";
import { freshStore } from "./test-store";

const MIGRATIONS = join(import.meta.dir, "../../../migrations");
const names = (await readdir(MIGRATIONS))
  .filter((file) => file.endsWith(".sql"))
  .sort()
  .map((file) => file.slice(0, -".sql".length));

/** Reads the names and SQL of everything in the database. */
const readSchema = (store: Store) =>
  store.read.all<{ name: string; sql: string }>(
    sql`SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name`,
  );

/** Creates a database with these migrations, one user and one asset. */
async function createDatabase(path: string, migrations: readonly string[]): Promise<Store> {
  const store = await openStore(path);
  await store.write(async (tx) => {
    await tx.run(sql`CREATE TABLE migrations (name text PRIMARY KEY NOT NULL, run_at integer NOT NULL)`);
    for (const name of migrations) {
      const text = await Bun.file(join(MIGRATIONS, `${name}.sql`)).text();
      for (const statement of text.split("--> statement-breakpoint")) await tx.run(sql.raw(statement));
      await tx.run(sql`INSERT INTO migrations (name, run_at) VALUES (${name}, 1)`);
    }
    // In SQL: the drizzle tables have columns that this version did not have.
    await tx.run(sql`INSERT INTO users (id, email, created_at) VALUES ('u', 'u@example.test', 1)`);
    await tx.run(
      sql`INSERT INTO projects (id, user_id, name, state, created_at, updated_at, last_activity_at) VALUES ('p', 'u', 'P', 'active', 1, 1, 1)`,
    );
    await tx.run(
      sql`INSERT INTO assets (id, user_id, project_id, kind, state, upload_length, upload_active_at, payment, created_at) VALUES ('a', 'u', 'p', 'source', 'ready', 64, 1, 'none', 1)`,
    );
  });
  return store;
}

test.each(names.map((name, n) => [name, names.slice(0, n + 1)] as const))(
  "a database migrated up to %s gets the current schema and keeps its rows",
  async (_, seen) => {
    await using folder = await temporaryFolder();
    await using today = await freshStore();
    const store = await createDatabase(join(folder.path, "old.db"), seen);
    try {
      await migrate(store);
      await migrate(store);
      expect(await readSchema(store)).toEqual(await readSchema(today.store));
      const run = await store.read.all<{ name: string }>(sql`SELECT name FROM migrations ORDER BY name`);
      expect(run.map((row) => row.name)).toEqual(names);
      expect(await store.read.all<object>(sql`SELECT id FROM assets`)).toHaveLength(1);
    } finally {
      await store.close();
    }
  },
);

test.each(names)("%s drops no table, which would delete the rows that refer to it", async (name) => {
  const text = await Bun.file(join(MIGRATIONS, `${name}.sql`)).text();
  expect(text).not.toMatch(/drop\s+table|pragma\s+foreign_keys/i);
});

test("secrets in stored responses of an older version are removed", async () => {
  await using folder = await temporaryFolder();
  const store = await createDatabase(join(folder.path, "old.db"), names.slice(0, 3));
  try {
    const bodies = ['{"id":"1","secret":"whsec_x"}', '{"id":"2","name":"secret"}', "null"];
    for (const [n, body] of bodies.entries()) {
      await store.write((tx) =>
        tx.run(sql`INSERT INTO idempotency (user_id, key, request_hash, status, body, headers, created_at)
          VALUES ('u', ${String(n)}, 'h', 201, ${body}, '{}', 1)`),
      );
    }
    await migrate(store);
    const rows = await store.read.all<{ body: string }>(sql`SELECT body FROM idempotency ORDER BY key`);
    expect(rows.map(({ body }) => body)).toEqual(['{"id":"1","secret":null}', bodies[1]!, bodies[2]!]);
  } finally {
    await store.close();
  }
});

test("assets that failed in an older version are listed for the removal of their files", async () => {
  await using folder = await temporaryFolder();
  const store = await createDatabase(join(folder.path, "old.db"), names.slice(0, 3));
  try {
    await store.write((tx) => tx.run(sql`UPDATE assets SET state = 'failed'`));
    await migrate(store);
    expect(await listUnmeasuredAssets(store.read, "", 10)).toEqual([{ id: "a", state: "failed" }]);
  } finally {
    await store.close();
  }
});

test("a database of a newer version is refused and not changed", async () => {
  await using fresh = await freshStore();
  await fresh.store.write((tx) => tx.run(sql`INSERT INTO migrations (name, run_at) VALUES ('9999_future', 1)`));
  const before = await readSchema(fresh.store);
  await expect(migrate(fresh.store)).rejects.toThrow(
    'Database has migration "9999_future", which this version does not have: run a newer version of offcut.',
  );
  expect(await readSchema(fresh.store)).toEqual(before);
});

test("the newest snapshot matches the tables: bun run db:generate has nothing to write", async () => {
  const newest = `${names.at(-1)!.slice(0, 4)}_snapshot.json`;
  const snapshot = await Bun.file(join(MIGRATIONS, "meta", newest)).json();
  const today = await generateSQLiteDrizzleJson({ ...tables, ...outboxTables }, snapshot.id);
  expect(await generateSQLiteMigration(snapshot, today)).toEqual([]);
});
