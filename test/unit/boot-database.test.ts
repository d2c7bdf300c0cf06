/** The start of a new version on the data folder of an older one. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFile, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "../../src/boot-database";
import { removeOldKept } from "../../src/store/kept-databases";
import { temporaryFolder } from "../temporary-folder";
import { createOldDatabase, MIGRATION_NAMES, MIGRATIONS } from "./store/old-database";

const NAMES = MIGRATION_NAMES;
const TODAY = Date.parse("2027-01-31T12:00:00Z");

const createOld = async (folder: string, migrations: readonly string[]) =>
  createOldDatabase(join(folder, "offcut.db"), migrations);

const read = (path: string, query: string) => {
  using database = new Database(path, { readwrite: true, create: false });
  return database.query(query).values();
};
const open = async (folder: string, busyMs?: number) => {
  const store = await openDatabase(folder, { now: TODAY, busyMs });
  await store.close();
};
const list = async (folder: string) => (await readdir(folder)).filter((name) => !/-(wal|shm)$/.test(name)).sort();
const KEPT = `offcut-before-${NAMES.at(-1)}-2027-01-31.db`;

test("a current database is not copied, and a new folder gets a database", async () => {
  await using folder = await temporaryFolder();
  await open(folder.path);
  await open(folder.path);
  expect(await list(folder.path)).toEqual(["offcut.db", "version.json"]);
});

test("a damaged database is refused with advice", async () => {
  await using folder = await temporaryFolder();
  await open(folder.path);
  await rm(join(folder.path, "offcut.db-wal"), { force: true });
  await writeFile(join(folder.path, "offcut.db"), "not a database ".repeat(1000));
  await expect(open(folder.path)).rejects.toThrow(
    "The database is damaged (SQLITE_NOTADB: file is not a database). Restore a backup with offcut restore.",
  );
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
      "INSERT INTO projects (id, workspace_id, name, state, created_at, updated_at, last_activity_at) VALUES ('q', 'gone', 'P', 'active', 1, 1, 1)",
    );
    database.close();
    expect(await refusal(folder.path)).toContain("The migrated copy is damaged: Row 2 of projects");
  });
});

/** Records something after the migration. */
async function addRecording(folder: string): Promise<void> {
  using database = new Database(join(folder, "offcut.db"));
  database.run(
    "INSERT INTO assets (id, workspace_id, project_id, kind, state, upload_length, upload_active_at, payment, created_at) VALUES ('b', 'u', 'p', 'source', 'ready', 64, 1, 'none', 1)",
  );
  for (const id of ["m", "n"])
    database.run(`INSERT INTO ledger (id, workspace_id, type, delta, created_at) VALUES ('${id}', 'u', 'grant', 1, 1)`);
}

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
  expect(message).toContain(
    `To go back, move offcut.db away and rename ${KEPT} to offcut.db: everything since 2027-01-31 is lost.`,
  );
  await addRecording(folder.path);
  expect(await open(folder.path).catch((error: Error) => error.message)).toEndWith(
    "everything since 2027-01-31 is lost, among it 1 recording, 2 ledger entries.",
  );
  // Following the advice, and with a log that a killed newer version has left.
  await rename(join(folder.path, "offcut.db"), join(folder.path, "aside.db"));
  await rename(join(folder.path, KEPT), join(folder.path, "offcut.db"));
  await open(folder.path);
  expect(read(join(folder.path, "offcut.db"), "SELECT id FROM assets").flat()).toEqual(["a"]);
});

test("the kept file is removed after 14 days", async () => {
  await using folder = await temporaryFolder();
  await createOld(folder.path, NAMES.slice(0, 9));
  await open(folder.path);
  const sweep = (day: number) => removeOldKept(folder.path, TODAY + day * 24 * 3600 * 1000);
  await sweep(13);
  expect(await list(folder.path)).toEqual([KEPT, "offcut.db", "version.json"]);
  await sweep(15);
  expect(await list(folder.path)).toEqual(["offcut.db", "version.json"]);
});

test("of two kept files, the refusal names the one that this version can open", async () => {
  await using folder = await temporaryFolder();
  await createOld(folder.path, NAMES.slice(0, 9));
  await open(folder.path);
  using database = new Database(join(folder.path, "offcut.db"));
  database.run("INSERT INTO migrations (name, run_at) VALUES ('9998_future', 1)");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  await copyFile(join(folder.path, "offcut.db"), join(folder.path, "offcut-before-9999_future-2027-02-01.db"));
  await writeFile(join(folder.path, "offcut-before-0000_torn-2027-02-02.db"), "SQLite format 3");
  const message = await open(folder.path).catch((error: Error) => error.message);
  expect(message).toContain(`rename ${KEPT} to offcut.db`);
});

describe("a file that replaces the current database", () => {
  const old = NAMES.slice(0, 9);
  /** Opens the folder in a process of its own, because a connection outlives its store, and kills it. */
  async function openAndKill(folder: string): Promise<void> {
    const script = `
      const { openDatabase } = await import(${JSON.stringify(join(import.meta.dir, "../../src/boot-database.ts"))});
      await openDatabase(${JSON.stringify(folder)});
      process.kill(process.pid, "SIGKILL");`;
    await Bun.spawn([process.execPath, "-e", script], { stderr: "inherit" }).exited;
  }
  async function createCurrent(hasLog: boolean) {
    const folder = await temporaryFolder();
    await openAndKill(folder.path);
    // The schema of a new database is in the log.
    read(join(folder.path, "offcut.db"), "PRAGMA wal_checkpoint(TRUNCATE)");
    if (hasLog) {
      await openAndKill(folder.path);
      await writeFile(join(folder.path, "offcut.db-wal"), "the log of the newer file");
    }
    await createOldDatabase(join(folder.path, "older.db"), old);
    return folder;
  }
  const wasMigrated = async (folder: string) => {
    expect(read(join(folder, KEPT), "SELECT name FROM migrations ORDER BY name").flat()).toEqual(old);
    expect(read(join(folder, "offcut.db"), "SELECT id FROM assets").flat()).toEqual(["a"]);
  };

  test("is migrated as a copy when it was renamed", async () => {
    await using folder = await createCurrent(false);
    await rename(join(folder.path, "older.db"), join(folder.path, "offcut.db"));
    await open(folder.path);
    await wasMigrated(folder.path);
  });

  test("is never migrated in place when it was copied over it", async () => {
    await using folder = await createCurrent(false);
    await copyFile(join(folder.path, "older.db"), join(folder.path, "offcut.db"));
    await expect(open(folder.path)).rejects.toThrow("An older database has replaced it. Start Offcut again");
    expect(read(join(folder.path, "offcut.db"), "SELECT name FROM migrations ORDER BY name").flat()).toEqual(old);
  });

  test("is not opened with the log of the replaced file", async () => {
    await using folder = await createCurrent(true);
    await rename(join(folder.path, "older.db"), join(folder.path, "offcut.db"));
    await expect(open(folder.path)).rejects.toThrow("Move offcut.db-wal and offcut.db-shm away.");
    for (const suffix of ["-wal", "-shm"])
      await rename(join(folder.path, `offcut.db${suffix}`), `${folder.path}/x${suffix}`);
    await open(folder.path);
    await wasMigrated(folder.path);
  });
});

test.each([["missing"], ["empty"]])("a database that is %s is not replaced by a new one", async (what) => {
  await using folder = await temporaryFolder();
  await createOld(folder.path, NAMES.slice(0, 9));
  await open(folder.path);
  const path = join(folder.path, "offcut.db");
  for (const suffix of ["", "-wal", "-shm"]) await rm(path + suffix, { force: true });
  if (what === "empty") await writeFile(path, "");
  await expect(open(folder.path)).rejects.toThrow(
    `It is missing or empty, but version.json says that this folder had one. Restore a backup with offcut restore. ${KEPT} has the state of 2027-01-31.`,
  );
  expect(await Bun.file(path).exists()).toBe(what === "empty");
});

test("a database that another program has open is not migrated", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "offcut.db");
  await createOld(folder.path, NAMES.slice(0, 9));
  using other = new Database(path);
  other.run("BEGIN");
  other.query("SELECT count(*) FROM users").get();
  using writer = new Database(path);
  writer.run("UPDATE users SET created_at = 2");
  await expect(open(folder.path, 200)).rejects.toThrow("Another program has it open. End that program");
  expect(other.query("SELECT created_at FROM users").values()).toEqual([[1]]);
  other.run("COMMIT");
  expect(other.query("SELECT created_at FROM users").values()).toEqual([[2]]);
});
