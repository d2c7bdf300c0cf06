/** The triggers that count changes of accounts, by which caches of credentials and of access are cleared. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import type { Queries } from "../../../src/store/db";
import { apiKeys, sessions, users, workspaceMembers, workspaces } from "../../../src/store/schema-accounts";
import { touchSession } from "../../../src/store/sessions";
import { recordSignIn, touchApiKey } from "../../../src/store/users";
import { freshStore, type TestStore } from "./test-store";

/** Columns that no cache depends on. */
const UNCACHED = [
  "users.last_sign_in_at",
  "api_keys.last_used_at",
  "sessions.last_seen_at",
  "sessions.expires_at",
  "workspaces.text_bytes",
];

let db: TestStore;
beforeAll(async () => {
  db = await freshStore();
  await db.store.write(async (tx) => {
    for (const row of [
      "users (id, email, created_at) VALUES ('u', 'u@example.test', 1), ('v', 'v@example.test', 1)",
      "workspaces (id, name, is_personal, created_at) VALUES ('u', 'Personal', true, 1), ('w', 'Team', false, 1)",
      "workspace_members (workspace_id, user_id, role, created_at) VALUES ('w', 'u', 'owner', 1)",
      "api_keys (id, user_id, workspace_id, name, prefix, hash, created_at) VALUES ('k', 'u', 'u', 'K', 'p', 'h', 1)",
      "sessions (id, user_id, created_at, authenticated_at, last_seen_at, expires_at) VALUES ('s', 'u', 1, 1, 1, 100)",
      "projects (id, workspace_id, name, state, created_at, updated_at, last_activity_at) VALUES ('p', 'u', 'P', 'active', 1, 1, 1)",
    ])
      await tx.run(sql.raw(`INSERT INTO ${row}`));
  });
});
afterAll(() => db[Symbol.asyncDispose]());

/** Thrown so that the next test finds the same rows. */
class RollBack extends Error {}

/** Returns whether `change` counts. It is rolled back, in which case nothing must have been counted in the end. */
async function counts(change: (tx: Queries) => Promise<unknown>): Promise<boolean> {
  const read = async (queries: Queries) =>
    (await queries.all<{ revision: number }>(sql`SELECT revision FROM accounts_revision`))[0]!.revision;
  let hasCounted = false;
  const before = db.store.accountsRevision();
  await db.store
    .write(async (tx) => {
      const start = await read(tx);
      await change(tx);
      hasCounted = (await read(tx)) !== start;
      throw new RollBack();
    })
    .catch((error) => {
      if (!(error instanceof RollBack)) throw error;
    });
  expect(db.store.accountsRevision()).toBe(before);
  return hasCounted;
}

describe.each([users, apiKeys, sessions, workspaces, workspaceMembers].map((table) => getTableConfig(table)))(
  "of $name",
  ({ name, columns }) => {
    test.each(columns.map((column) => column.name))(
      "a change of %s counts, unless no cache depends on it",
      async (column) => {
        const update = sql.raw(`UPDATE ${name} SET ${column} = ${column}`);
        expect(await counts((tx) => tx.run(update))).toBe(!UNCACHED.includes(`${name}.${column}`));
      },
    );

    test("a deletion counts", async () => {
      expect(await counts((tx) => tx.run(sql.raw(`DELETE FROM ${name}`)))).toBe(true);
    });
  },
);

test.each<[string, string, boolean]>([
  ["a new account", "INSERT OR IGNORE INTO users (id, email, created_at) VALUES ('n', 'n@example.test', 1)", true],
  [
    "an account that is there",
    "INSERT OR IGNORE INTO users (id, email, created_at) VALUES ('u', 'n@example.test', 1)",
    false,
  ],
  ["an account that is replaced", "REPLACE INTO users (id, email, created_at) VALUES ('v', 'n@example.test', 1)", true],
  ["a new workspace", "INSERT INTO workspaces (id, name, is_personal, created_at) VALUES ('n', 'N', false, 1)", true],
  [
    "a new member",
    "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES ('w', 'v', 'viewer', 1)",
    true,
  ],
  ["a role", "WITH one AS (SELECT 'u' AS id) UPDATE workspace_members SET role = 'viewer' WHERE user_id IN one", true],
  ["a key that loses its scopes with its last use", "UPDATE api_keys SET scopes = '[]', last_used_at = 2", true],
  ["a session that ends earlier", "UPDATE sessions SET expires_at = 99", true],
  ["a session that ends later", "UPDATE sessions SET expires_at = 101", false],
  [
    "a new session",
    "INSERT INTO sessions (id, user_id, created_at, authenticated_at, last_seen_at, expires_at) VALUES ('t', 'u', 1, 1, 1, 1)",
    false,
  ],
  ["a change of no row", "UPDATE users SET email = 'x' WHERE id = 'nobody'", false],
  ["a read", "SELECT id FROM users", false],
  ["another table", "UPDATE projects SET name = 'x' WHERE workspace_id IN (SELECT id FROM users)", false],
])("%s: %s", async (_, statement, expected) => {
  expect(await counts((tx) => tx.run(sql.raw(statement)))).toBe(expected);
});

test("uses of keys and sessions, and sign-ins, do not count; their ends do, also by deleting the account", async () => {
  const uses = [
    (tx: Queries) => touchApiKey(tx, "k", 2),
    (tx: Queries) => recordSignIn(tx, "u", 2),
    (tx: Queries) => touchSession(tx, "s", { now: 2, expiresAt: 103 }),
  ];
  for (const use of uses) expect(await counts(use)).toBe(false);
  expect(await counts((tx) => tx.run(sql`DELETE FROM users WHERE id = 'u'`))).toBe(true);
});

test("the store's revision changes before the write resolves", async () => {
  const before = db.store.accountsRevision();
  await db.store.write((tx) => tx.run(sql`UPDATE projects SET name = 'Q'`));
  expect(db.store.accountsRevision()).toBe(before);
  await db.store.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 5 WHERE id = 'v'`));
  expect(db.store.accountsRevision()).toBe(before + 1);
});

test("a revision that cannot be read counts as changed", async () => {
  await using broken = await freshStore();
  await broken.store.write((tx) => tx.run(sql`ALTER TABLE accounts_revision RENAME TO lost`));
  const before = broken.store.accountsRevision();
  await broken.store.write(async () => {});
  expect(broken.store.accountsRevision()).toBeGreaterThan(before);
});
