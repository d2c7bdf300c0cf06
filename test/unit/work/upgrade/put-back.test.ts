/** Going back: the database that a newer version has migrated is replaced by the kept one, and nothing is lost. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFile, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { putBackDatabase } from "../../../../src/work/upgrade/install-release";
import { temporaryFolder } from "../../../temporary-folder";
import { createOldDatabase, MIGRATION_NAMES } from "../../store/old-database";

const NOW = Date.parse("2027-02-01T12:00:00Z");
const KEPT = "offcut-before-9999_future-2027-01-31.db";
const ASIDE = "offcut-after-9999_future-2027-02-01.db";

function read(path: string): unknown[] {
  using database = new Database(path, { readwrite: true, create: false });
  return database.query("SELECT id FROM users ORDER BY id").values().flat();
}

/** Creates a database of this version, and migrates it as a newer version does that is killed with a log. */
async function createMigrated(folder: string): Promise<string> {
  const path = join(folder, "offcut.db");
  createOldDatabase(path, MIGRATION_NAMES);
  await copyFile(path, join(folder, KEPT));
  const script = `
    const { Database } = require("bun:sqlite");
    const database = new Database(${JSON.stringify(path)});
    database.run("INSERT INTO migrations (name, run_at) VALUES ('9999_future', 1)");
    database.run("INSERT INTO users (id, email, created_at) VALUES ('v', 'v@example.test', 1)");
    process.kill(process.pid, "SIGKILL");`;
  await Bun.spawn([process.execPath, "-e", script]).exited;
  return path;
}

test("the kept database is put back, and the migrated one is kept with its log", async () => {
  await using folder = await temporaryFolder();
  const path = await createMigrated(folder.path);
  expect((await readdir(folder.path)).sort()).toContain("offcut.db-wal");
  expect(await putBackDatabase(folder.path, NOW)).toEqual({ kept: KEPT, aside: ASIDE });
  expect((await readdir(folder.path)).sort()).toEqual([ASIDE, "offcut.db"]);
  expect([read(path), read(join(folder.path, ASIDE))]).toEqual([["u"], ["u", "v"]]);
  // Nothing more to do.
  expect(await putBackDatabase(folder.path, NOW)).toBeNull();
});

test("a database that was not migrated stays", async () => {
  await using folder = await temporaryFolder();
  expect(await putBackDatabase(folder.path, NOW)).toBeNull();
  createOldDatabase(join(folder.path, "offcut.db"), MIGRATION_NAMES);
  expect(await putBackDatabase(folder.path, NOW)).toBeNull();
  expect(await readdir(folder.path)).toEqual(["offcut.db"]);
});

test("without the database that was migrated nothing is changed, also when an earlier one is kept", async () => {
  await using folder = await temporaryFolder();
  const path = await createMigrated(folder.path);
  await rename(join(folder.path, KEPT), join(folder.path, "offcut-before-9998_future-2027-01-30.db"));
  await expect(putBackDatabase(folder.path, NOW)).rejects.toThrow("The database that was migrated is not kept in");
  expect(read(path)).toEqual(["u", "v"]);
});
