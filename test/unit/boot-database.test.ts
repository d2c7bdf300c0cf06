/** The start of a new version on the data folder of an older one. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "../../src/boot-database";
import { temporaryFolder } from "../temporary-folder";

const MIGRATIONS = join(import.meta.dir, "../../migrations");
const NAMES = (await readdir(MIGRATIONS))
  .filter((file) => file.endsWith(".sql"))
  .sort()
  .map((file) => file.slice(0, -".sql".length));
const TODAY = Date.parse("2027-01-31T12:00:00Z");

/** Creates the database of an older version, with an account and credits, and a log that is not in the file yet. */
async function createOld(folder: string, migrations: readonly string[]): Promise<void> {
  const database = new Database(join(folder, "offcut.db"), { create: true });
  database.run("PRAGMA journal_mode=WAL");
  database.run("CREATE TABLE migrations (name text PRIMARY KEY NOT NULL, run_at integer NOT NULL)");
  for (const name of migrations) {
    const text = await readFile(join(MIGRATIONS, `${name}.sql`), "utf8");
    for (const statement of text.split("--> statement-breakpoint")) database.run(statement);
    database.run("INSERT INTO migrations (name, run_at) VALUES (?, 1)", [name]);
  }
  database.run("INSERT INTO users (id, email, created_at) VALUES ('u', 'u@example.test', 1)");
  const owner = migrations.includes("0005_accounts") ? "workspace_id" : "user_id";
  if (owner === "workspace_id")
    database.run("INSERT INTO workspaces (id, name, is_personal, created_at) VALUES ('u', 'Personal', true, 1)");
  database.run(`INSERT INTO ledger (id, ${owner}, type, delta, created_at) VALUES ('l', 'u', 'grant', 7, 1)`);
  database.close();
}

const read = (path: string, query: string) => {
  using database = new Database(path, { readwrite: true, create: false });
  return database.query(query).values();
};
const open = async (folder: string, now = TODAY) => {
  const store = await openDatabase(folder, now);
  await store.close();
};
const list = async (folder: string) => (await readdir(folder)).filter((name) => !/-(wal|shm)$/.test(name)).sort();
const KEPT = `offcut-before-${NAMES.at(-1)}-2027-01-31.db`;

test.each(NAMES.slice(0, -1).map((name, n) => [name, n + 1] as const))(
  "a database with the migrations until %s is migrated with its rows, and kept",
  async (_, count) => {
    await using folder = await temporaryFolder();
    await createOld(folder.path, NAMES.slice(0, count));
    await open(folder.path);
    expect(await list(folder.path)).toEqual([KEPT, "offcut.db", "version.json"]);
    const [migrated, kept] = [join(folder.path, "offcut.db"), join(folder.path, KEPT)];
    expect(read(migrated, "SELECT name FROM migrations ORDER BY name").flat()).toEqual(NAMES);
    expect(read(migrated, "SELECT id, delta FROM ledger")).toEqual([["l", 7]]);
    expect(read(kept, "SELECT name FROM migrations ORDER BY name").flat()).toEqual(NAMES.slice(0, count));
    expect(read(kept, "SELECT id, delta FROM ledger")).toEqual([["l", 7]]);
  },
);

test("a current database is not copied, and a new folder gets a database", async () => {
  await using folder = await temporaryFolder();
  await open(folder.path);
  await open(folder.path);
  expect(await list(folder.path)).toEqual(["offcut.db", "version.json"]);
});

describe("the database is unchanged when", () => {
  const old = NAMES.slice(0, 7);
  async function refusal(folder: string): Promise<string> {
    const before = await list(folder);
    const message = await open(folder).then(
      () => "opened",
      (error: Error) => error.message,
    );
    expect(await list(folder)).toEqual(before);
    expect(read(join(folder, "offcut.db"), "SELECT name FROM migrations ORDER BY name").flat()).toEqual(old);
    return message;
  }

  test("a migration fails", async () => {
    await using folder = await temporaryFolder();
    await createOld(folder.path, old);
    // The next migration creates this table.
    const next = await readFile(join(MIGRATIONS, `${NAMES[7]}.sql`), "utf8");
    const table = /CREATE TABLE `(\w+)`/.exec(next)![1]!;
    using database = new Database(join(folder.path, "offcut.db"));
    database.run(`CREATE TABLE \`${table}\` (id text)`);
    database.close();
    expect(await refusal(folder.path)).toContain("cannot open the database");
  });

  test("rows refer to missing rows", async () => {
    await using folder = await temporaryFolder();
    await createOld(folder.path, old);
    using database = new Database(join(folder.path, "offcut.db"));
    database.run("PRAGMA foreign_keys=OFF");
    database.run(
      "INSERT INTO projects (id, workspace_id, name, state, created_at, updated_at, last_activity_at) VALUES ('p', 'gone', 'P', 'active', 1, 1, 1)",
    );
    database.close();
    expect(await refusal(folder.path)).toContain("The migrated copy is damaged: Row 1 of projects");
  });
});

test("a database of a newer version is refused with both versions and the kept file", async () => {
  await using folder = await temporaryFolder();
  await createOld(folder.path, NAMES.slice(0, 9));
  await open(folder.path);
  using database = new Database(join(folder.path, "offcut.db"));
  database.run("INSERT INTO migrations (name, run_at) VALUES ('9999_future', 1)");
  database.close();
  await writeFile(join(folder.path, "version.json"), '{"version":"9.9.9"}');
  const message = await open(folder.path).catch((error: Error) => error.message);
  expect(message).toMatch(
    /Offcut 9\.9\.9 has migrated it\. Offcut \d+\.\d+\.\d+ does not have migration "9999_future"/,
  );
  expect(message).toContain(`rename ${KEPT} to offcut.db: everything since 2027-01-31 is lost.`);
});

test("the kept file is removed after 14 days", async () => {
  await using folder = await temporaryFolder();
  await createOld(folder.path, NAMES.slice(0, 9));
  await open(folder.path);
  await open(folder.path, TODAY + 13 * 24 * 3600 * 1000);
  expect(await list(folder.path)).toContain(KEPT);
  await open(folder.path, TODAY + 15 * 24 * 3600 * 1000);
  expect(await list(folder.path)).not.toContain(KEPT);
});
