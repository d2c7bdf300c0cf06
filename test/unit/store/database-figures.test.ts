/** Figures that a migration must not change: a difference is found and named. */

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { findChangedFigure, listAdditions, readFigures } from "../../../src/store/database-figures";
import { temporaryFolder } from "../../temporary-folder";
import { createOldDatabase, MIGRATION_NAMES } from "./old-database";

/** Compares a database before and after these statements. */
async function compare(statements: string[], migrations: readonly string[] = MIGRATION_NAMES) {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "offcut.db");
  createOldDatabase(path, migrations);
  using database = new Database(path);
  database.run("PRAGMA foreign_keys=OFF");
  database.run("INSERT INTO users (id, email, created_at) VALUES ('v', 'v@example.test', 1)");
  const before = readFigures(database);
  for (const statement of statements) database.run(statement);
  const after = readFigures(database);
  return { change: findChangedFigure(before, after), additions: listAdditions(before, after) };
}

test.each([
  [[], null],
  [["DELETE FROM assets"], "The migrated copy has 0 recordings, expected 1."],
  [["DROP TABLE cuts"], "The migrated copy has 0 cuts, expected 1."],
  [["DELETE FROM events"], "The migrated copy has 0 rows in events, expected 1."],
  [
    ["INSERT INTO ledger (id, workspace_id, type, delta, created_at) VALUES ('m', 'u', 'grant', 0, 1)"],
    "The migrated copy has 2 ledger entries, expected 1.",
  ],
  [["UPDATE ledger SET delta = 4"], "The migrated copy has 4 credits in ledger of workspace u, expected 5."],
  // The sum of all workspaces is the same.
  [["UPDATE ledger SET workspace_id = 'v'"], "The migrated copy has 0 credits in ledger of workspace u, expected 5."],
  [["UPDATE holds SET amount = 1"], "The migrated copy has 1 credits in holds of workspace u, expected 2."],
  // A new version may add work, and live events are written by triggers.
  [
    [
      "INSERT INTO events (id, workspace_id, type, entity_id, data, created_at) VALUES ('f', 'u', 'asset.deleted', 'a', '{}', 1)",
      "DELETE FROM live_events",
    ],
    null,
  ],
] as [string[], string | null][])("%j: %p", async (statements, expected) => {
  expect((await compare(statements)).change).toBe(expected);
});

test("before workspaces existed, balances belong to users", async () => {
  const first = MIGRATION_NAMES.slice(0, 1);
  expect((await compare(["UPDATE ledger SET user_id = 'v'"], first)).change).toBe(
    "The migrated copy has 0 credits in ledger of workspace u, expected 5.",
  );
});

test("additional rows of a newer database are listed", async () => {
  const { additions } = await compare([
    "INSERT INTO users (id, email, created_at) VALUES ('x', 'x@example.test', 1), ('y', 'y@example.test', 1)",
    "INSERT INTO ledger (id, workspace_id, type, delta, created_at) VALUES ('m', 'u', 'grant', 1, 1)",
  ]);
  expect(additions).toEqual(["2 accounts", "1 ledger entry"]);
});
