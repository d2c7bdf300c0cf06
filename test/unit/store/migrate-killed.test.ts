/** A migration that is killed: the next start finds the old database, or the new one. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { openStore } from "../../../src/store/db";
import { migrate } from "../../../src/store/migrate";
import { temporaryFolder } from "../../temporary-folder";

setDefaultTimeout(60_000);

const SOURCE = join(import.meta.dir, "../../../src/store");
const MIGRATIONS = join(import.meta.dir, "../../../migrations");
const OLD = ["0000_initial", "0001_refunds", "0002_turns_and_strategy", "0003_limits", "0004_queue_by_user"];
const ROWS = 20_000;
const KILLED_AFTER_MS = [0, 30, 120];

/** Creates databases without workspaces, large enough for the migration to take some time. */
async function createOldDatabases(path: string, copies: string[]): Promise<void> {
  const store = await openStore(path);
  await store.write(async (tx) => {
    await tx.run(sql`CREATE TABLE migrations (name text PRIMARY KEY NOT NULL, run_at integer NOT NULL)`);
    for (const name of OLD) {
      const text = await Bun.file(join(MIGRATIONS, `${name}.sql`)).text();
      for (const statement of text.split("--> statement-breakpoint")) await tx.run(sql.raw(statement));
      await tx.run(sql`INSERT INTO migrations (name, run_at) VALUES (${name}, 1)`);
    }
    await tx.run(sql`INSERT INTO users (id, email, created_at) VALUES ('u', 'u@example.test', 1)`);
    await tx.run(sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
      INSERT INTO events (id, user_id, type, entity_id, data, created_at) SELECT 'e' || i, 'u', 'asset.ready', i, '{}', 1 FROM n`);
  });
  for (const copy of copies) await store.copyTo(copy);
  await store.close();
}

/** Migrates in a process of its own that is killed after this time. Returns whether it had finished. */
async function migrateAndKill(path: string, afterMs: number): Promise<boolean> {
  const script = `
    const { openStore } = await import(${JSON.stringify(join(SOURCE, "db.ts"))});
    const { migrate } = await import(${JSON.stringify(join(SOURCE, "migrate.ts"))});
    const store = await openStore(${JSON.stringify(path)});
    console.log("ready");
    await migrate(store);
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "ignore" });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("ready\n");
  await Bun.sleep(afterMs);
  child.kill("SIGKILL");
  return (await child.exited) === 0;
}

test("a killed migration leaves a database that the next start migrates, with all rows", async () => {
  await using folder = await temporaryFolder();
  const toPath = (afterMs: number) => join(folder.path, `${afterMs}.db`);
  await createOldDatabases(join(folder.path, "old.db"), KILLED_AFTER_MS.map(toPath));
  let killed = 0;
  for (const afterMs of KILLED_AFTER_MS) {
    const path = toPath(afterMs);
    if (!(await migrateAndKill(path, afterMs))) killed++;
    const store = await openStore(path);
    try {
      await migrate(store);
      const [row] = await store.read.all<{ n: number }>(sql`SELECT count(*) AS n FROM events WHERE workspace_id = 'u'`);
      expect([afterMs, row!.n]).toEqual([afterMs, ROWS]);
      expect(await store.read.all<object>(sql`PRAGMA integrity_check`)).toEqual([{ integrity_check: "ok" }]);
      expect(
        await store.read.all<object>(sql`SELECT name FROM sqlite_master WHERE name LIKE '\\_\\_%' ESCAPE '\\'`),
      ).toEqual([]);
    } finally {
      await store.close();
    }
  }
  expect(killed).toBeGreaterThan(0);
});
