/**
 * A start of a new version that is killed while it migrates: the next start finds the old database or the new one,
 * whole.
 */
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "../../src/boot-database";
import { MIGRATION_STEPS, type MigrationStep } from "../../src/store/migrate-copy";
import { fullOr } from "../full-size";
import { temporaryFolder } from "../temporary-folder";
import { createOldDatabase, MIGRATION_NAMES } from "./store/old-database";

setDefaultTimeout(120_000);

const TODAY = Date.parse("2027-01-31T12:00:00Z");
const KEPT = `offcut-before-${MIGRATION_NAMES.at(-1)}-2027-01-31.db`;
const SWAPPED: MigrationStep = "finish";

/** Reads a file of a folder that no process has open. */
function read(path: string, query: string): unknown[][] {
  using database = new Database(path, { readwrite: true, create: false });
  return database.query(query).values();
}

/** Starts on a folder that a killed start has left, and checks that nothing is lost and nothing is left behind. */
async function startAgain(folder: string, old: readonly string[]): Promise<void> {
  const store = await openDatabase(folder, { now: TODAY });
  await store.close();
  await checkMigrated(folder, old);
}

/** Checks that the database has all rows of the older one, which is kept as it was. */
async function checkMigrated(folder: string, old: readonly string[]): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !/-(wal|shm)$/.test(name));
  expect(names.sort()).toEqual([KEPT, "offcut.db", "version.json"]);
  const path = join(folder, "offcut.db");
  expect(read(path, "PRAGMA integrity_check")).toEqual([["ok"]]);
  expect(read(path, "SELECT name FROM migrations ORDER BY name").flat()).toEqual(MIGRATION_NAMES);
  for (const file of [path, join(folder, KEPT)]) {
    expect(read(file, "SELECT id, delta FROM ledger")).toEqual([["l", 5]]);
    expect(read(file, "SELECT id FROM assets")).toEqual([["a"]]);
  }
  expect(read(join(folder, KEPT), "SELECT name FROM migrations ORDER BY name").flat()).toEqual([...old]);
}

/**
 * A killed process leaves the files as they are, so a copy of them at the beginning of a step equals the result of a
 * kill there.
 */
const STEPS = fullOr<readonly MigrationStep[]>(MIGRATION_STEPS, ["migrate", "check", "record", "finish"]);
/** Steps of each captured schema. The schemas take turns. */
const CAPTURED_STEPS = fullOr(STEPS.length, 1);
/** Every n-th schema is captured. Not a divisor of the number of steps, so that each step has its turn. */
const CAPTURED_EVERY = fullOr(1, 3);

test.each(MIGRATION_NAMES.slice(0, -1).map((name, n) => [name, n] as const))(
  "a start on the schema %s is migrated with its rows, also when it was killed in a step",
  async (_, index) => {
    const old = MIGRATION_NAMES.slice(0, index + 1);
    const isCaptured = index % CAPTURED_EVERY === 0;
    const steps = STEPS.filter((_step, n) => isCaptured && (n + index) % (STEPS.length / CAPTURED_STEPS) === 0);
    await using folder = await temporaryFolder();
    const data = join(folder.path, "data");
    createOldDatabase(join(await createFolder(data), "offcut.db"), old);
    const onStep = async (step: MigrationStep) => {
      if (steps.includes(step)) await cp(data, join(folder.path, step), { recursive: true });
    };
    await (await openDatabase(data, { now: TODAY, onStep })).close();
    expect(steps).toHaveLength(isCaptured ? CAPTURED_STEPS : 0);
    await checkMigrated(data, old);
    for (const step of steps) {
      const state = join(folder.path, step);
      const applied = read(join(state, "offcut.db"), "SELECT name FROM migrations ORDER BY name").flat();
      expect([step, applied.length]).toEqual([step, (step === SWAPPED ? MIGRATION_NAMES : old).length]);
      await startAgain(state, old);
    }
  },
);

async function createFolder(path: string): Promise<string> {
  await Bun.write(join(path, ".created"), "");
  await Bun.file(join(path, ".created")).delete();
  return path;
}

test("a process that is killed in each step leaves a folder that starts", async () => {
  const old = MIGRATION_NAMES.slice(0, 5);
  for (const step of MIGRATION_STEPS) {
    await using folder = await temporaryFolder();
    createOldDatabase(join(folder.path, "offcut.db"), old);
    const script = `
      const { openDatabase } = await import(${JSON.stringify(join(import.meta.dir, "../../src/boot-database.ts"))});
      await openDatabase(${JSON.stringify(folder.path)}, {
        now: ${TODAY},
        onStep: (step) => { if (step === "${step}") process.kill(process.pid, "SIGKILL"); },
      });`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "inherit" });
    await child.exited;
    expect([step, child.signalCode]).toEqual([step, "SIGKILL"]);
    await startAgain(folder.path, old);
  }
});
