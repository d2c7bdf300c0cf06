import { expect, test } from "bun:test";
import { join } from "node:path";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import { sql } from "drizzle-orm";
import { listUnmeasuredAssets } from "../../../src/store/assets";
import { openStore, type Store } from "../../../src/store/db";
import { migrate } from "../../../src/store/migrate";
import * as tables from "../../../src/store/schema";
import * as accountTables from "../../../src/store/schema-accounts";
import * as billingTables from "../../../src/store/schema-billing";
import * as cutTables from "../../../src/store/schema-cuts";
import * as notificationTables from "../../../src/store/schema-notifications";
import * as outboxTables from "../../../src/store/schema-outbox";
import * as searchTables from "../../../src/store/schema-search";
import * as upkeepTables from "../../../src/store/schema-upkeep";
import * as workerTables from "../../../src/store/schema-workers";
import { listBacklog } from "../../../src/store/search";
import { temporaryFolder } from "../../temporary-folder";
import { createOldDatabase, MIGRATION_NAMES, MIGRATIONS } from "./old-database";
import { addUser, freshStore } from "./test-store";

const allTables = {
  ...accountTables,
  ...tables,
  ...outboxTables,
  ...cutTables,
  ...searchTables,
  ...billingTables,
  ...notificationTables,
  ...upkeepTables,
  ...workerTables,
  ...upkeepTables,
};
const names = MIGRATION_NAMES;

/** Reads the names and SQL of everything in the database. */
const readSchema = (store: Store) =>
  store.read.all<{ name: string; sql: string }>(
    sql`SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name`,
  );

const OWNED_TABLES = [
  "api_keys",
  "projects",
  "assets",
  "pipelines",
  "steps",
  "cuts",
  "renders",
  "ledger",
  "holds",
  "events",
  "webhook_endpoints",
  "deliveries",
];
const ACCOUNTS = names.indexOf("0005_accounts");

/** Creates and opens a database with these migrations and one row of each table that a user owns. */
async function createDatabase(path: string, migrations: readonly string[]): Promise<Store> {
  createOldDatabase(path, migrations);
  return openStore(path);
}

/** Describes columns, foreign keys and indexes, independently of the order of columns. */
async function describeTables(store: Store) {
  const names = await store.read.all<{ name: string }>(
    sql`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`,
  );
  return Promise.all(
    names.map(async ({ name }) => ({
      table: name,
      columns: await store.read.all<object>(
        sql.raw(`SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info('${name}') ORDER BY name`),
      ),
      references: await store.read.all<object>(
        sql.raw(`SELECT "table", "from", "to", on_delete FROM pragma_foreign_key_list('${name}') ORDER BY "from"`),
      ),
      indexes: (
        await store.read.all<{ sql: string }>(
          sql.raw(
            `SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '${name}' AND sql IS NOT NULL ORDER BY name`,
          ),
        )
      ).map((one) => one.sql.replace(/;$/, "")),
    })),
  );
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
      for (const table of OWNED_TABLES) {
        const rows = await store.read.all<{ owner: string }>(sql.raw(`SELECT workspace_id AS owner FROM ${table}`));
        expect([table, rows]).toEqual([table, [{ owner: "u" }]]);
      }
      expect(await store.read.all<object>(sql`SELECT id, is_personal FROM workspaces`)).toEqual([
        { id: "u", is_personal: 1 },
      ]);
      expect(await store.read.all<object>(sql`SELECT workspace_id, user_id, role FROM workspace_members`)).toEqual([
        { workspace_id: "u", user_id: "u", role: "owner" },
      ]);
      expect(await store.read.all<object>(sql`PRAGMA foreign_key_check`)).toEqual([]);
    } finally {
      await store.close();
    }
  },
);

test.each(names)("%s drops no table that others may refer to, which would delete their rows", async (name) => {
  const text = await Bun.file(join(MIGRATIONS, `${name}.sql`)).text();
  expect(text).not.toMatch(/drop\s+table(?! `__old_)|pragma\s+foreign_keys/i);
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

test("renders of an older version show the exact frame rate of their output", async () => {
  await using folder = await temporaryFolder();
  const store = await createDatabase(
    join(folder.path, "old.db"),
    names.slice(0, names.indexOf("0016_exact_frame_rates")),
  );
  const source = { num: 30_000, den: 1_001 };
  try {
    const videos = [{ frameRate: null }, { frameRate: { num: 25, den: 1 } }, null];
    await store.write(async (tx) => {
      await tx.run(sql`UPDATE assets SET info = ${JSON.stringify({ video: { frameRate: source } })}`);
      for (const [n, video] of videos.entries())
        await tx.run(sql`INSERT INTO renders (id, workspace_id, asset_id, state, output, resolved, request_hash, created_at)
          VALUES (${`r${n}`}, 'u', 'a', 'completed', '{"format":"mp4"}', ${JSON.stringify({ video })}, 'h', 1)`);
    });
    await migrate(store);
    const rows = await store.read.all<{ output: string }>(sql`SELECT output FROM renders WHERE id > 'r' ORDER BY id`);
    expect(rows.map(({ output }) => JSON.parse(output))).toEqual(
      [source, null, null].map((rate) => ({ format: "mp4", exact_frame_rate: rate })),
    );
  } finally {
    await store.close();
  }
});

test("keys that devices got from an older version are known as such", async () => {
  await using folder = await temporaryFolder();
  const count = names.findIndex((name) => name.endsWith("_workspace_invitations"));
  const store = await createDatabase(join(folder.path, "old.db"), names.slice(0, count));
  await store.write((tx) =>
    tx.run(sql`INSERT INTO audit_log (id, created_at, actor_kind, credential_id, action, target_id) VALUES
      ('1', 1, 'user', 's', 'device.approved', 'c'), ('2', 1, 'user', 'c', 'api_key.created', 'k')`),
  );
  await migrate(store);
  expect(await store.read.all<object>(sql`SELECT is_device FROM api_keys`)).toEqual([{ is_device: 1 }]);
  await store.close();
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

test("words that cuts of an older version have from their scripts become searchable", async () => {
  await using folder = await temporaryFolder();
  const store = await createDatabase(
    join(folder.path, "old.db"),
    names.slice(0, names.indexOf("0039_search_script_texts")),
  );
  try {
    await store.write(async (tx) => {
      await tx.run(sql`DELETE FROM search_backlog`);
      await tx.run(sql`INSERT OR IGNORE INTO cut_summaries (cut_id, asset_id) VALUES ('c', 'a')`);
    });
    await migrate(store);
    expect(await listBacklog(store.read, "", 10)).toEqual(["a"]);
  } finally {
    await store.close();
  }
});

test("the author of older rows is their owner", async () => {
  await using folder = await temporaryFolder();
  const store = await createDatabase(join(folder.path, "old.db"), names.slice(0, ACCOUNTS));
  try {
    await migrate(store);
    for (const table of ["projects", "assets", "pipelines", "cuts", "renders"]) {
      const rows = await store.read.all<object>(sql.raw(`SELECT created_by FROM ${table}`));
      expect([table, rows]).toEqual([table, [{ created_by: "u" }]]);
    }
    expect(await store.read.all<object>(sql`SELECT workspace_id, scopes FROM api_keys`)).toEqual([
      { workspace_id: "u", scopes: '["read","write"]' },
    ]);
  } finally {
    await store.close();
  }
});

test("a migration that stops midway leaves the old database", async () => {
  await using folder = await temporaryFolder();
  const store = await createDatabase(join(folder.path, "old.db"), names.slice(0, ACCOUNTS));
  try {
    // The migration's last statement fails.
    await store.write((tx) =>
      tx.run(sql`CREATE TRIGGER audit_log_is_never_changed AFTER DELETE ON users BEGIN SELECT 1; END`),
    );
    const before = await readSchema(store);
    await expect(migrate(store)).rejects.toThrow("Failed query");
    expect(await readSchema(store)).toEqual(before);
    expect(await store.read.all<object>(sql`SELECT user_id FROM deliveries`)).toEqual([{ user_id: "u" }]);
    await store.write((tx) => tx.run(sql`DROP TRIGGER audit_log_is_never_changed`));
    await migrate(store);
    expect(await store.read.all<object>(sql`SELECT workspace_id FROM deliveries`)).toEqual([{ workspace_id: "u" }]);
  } finally {
    await store.close();
  }
});

test("ledger entries outlive the account that they were written for", async () => {
  await using fresh = await freshStore();
  await fresh.store.write(async (tx) => {
    const { userId } = await addUser(tx);
    await tx.run(
      sql`INSERT INTO ledger (id, workspace_id, type, delta, created_at) VALUES ('l', ${userId}, 'grant', 1, 1)`,
    );
    await tx.run(sql`DELETE FROM workspaces`);
    await tx.run(sql`DELETE FROM users`);
  });
  expect(await fresh.store.read.all<object>(sql`SELECT id FROM ledger`)).toEqual([{ id: "l" }]);
  expect(await fresh.store.read.all<object>(sql`SELECT id FROM projects`)).toEqual([]);
});

test("audit entries cannot be deleted or rewritten", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  await store.write((tx) =>
    tx.run(
      sql`INSERT INTO audit_log (id, created_at, actor_kind, actor_id, action) VALUES ('1', 1, 'user', 'u', 'user.disabled')`,
    ),
  );
  await expect(store.write((tx) => tx.run(sql`DELETE FROM audit_log`))).rejects.toThrow();
  await expect(store.write((tx) => tx.run(sql`UPDATE audit_log SET action = 'x'`))).rejects.toThrow();
  // A purged account is replaced by a random ID.
  await store.write((tx) => tx.run(sql`UPDATE audit_log SET actor_id = 'r', address = NULL, details = NULL`));
  expect(await store.read.all<object>(sql`SELECT action, actor_id FROM audit_log`)).toEqual([
    { action: "user.disabled", actor_id: "r" },
  ]);
});

/** Virtual tables and those in which SQLite keeps them. */
const IS_TEXT_INDEX = /^passage_(words|trigrams?)(_|$)/;

test("the migrations create the tables that the code declares", async () => {
  await using migrated = await freshStore();
  await using folder = await temporaryFolder();
  const declared = await openStore(join(folder.path, "declared.db"));
  try {
    const nothing = await generateSQLiteDrizzleJson({});
    const all = await generateSQLiteDrizzleJson(allTables);
    for (const statement of await generateSQLiteMigration(nothing, all)) {
      await declared.write((tx) => tx.run(sql.raw(statement)));
    }
    expect(
      (await describeTables(migrated.store)).filter(
        ({ table }) => table !== "migrations" && !IS_TEXT_INDEX.test(table),
      ),
    ).toEqual(await describeTables(declared));
  } finally {
    await declared.close();
  }
});

test("a database of a newer version is refused and not changed", async () => {
  await using fresh = await freshStore();
  await fresh.store.write((tx) => tx.run(sql`INSERT INTO migrations (name, run_at) VALUES ('9999_future', 1)`));
  const before = await readSchema(fresh.store);
  await expect(migrate(fresh.store)).rejects.toThrow(
    'Database has migration "9999_future", which this version does not have. Run a newer version of offcut.',
  );
  expect(await readSchema(fresh.store)).toEqual(before);
});

test("the newest snapshot matches the tables: bun run db:generate has nothing to write", async () => {
  const newest = `${names.at(-1)!.slice(0, 4)}_snapshot.json`;
  const snapshot = await Bun.file(join(MIGRATIONS, "meta", newest)).json();
  const today = await generateSQLiteDrizzleJson(allTables, snapshot.id);
  expect(await generateSQLiteMigration(snapshot, today)).toEqual([]);
});
