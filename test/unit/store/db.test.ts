import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { newId } from "../../../src/lib/ids";
import type { Queries, Store } from "../../../src/store/db";
import { openStore } from "../../../src/store/db";
import { touchApiKey } from "../../../src/store/users";
import { temporaryFolder } from "../../temporary-folder";
import { addUser, freshStore } from "./test-store";

const names = async (queries: Queries): Promise<string[]> =>
  (await queries.all<{ name: string }>(sql`SELECT name FROM notes ORDER BY name`)).map((row) => row.name);

const note = (tx: Queries, name: string) => tx.run(sql`INSERT INTO notes (name, body) VALUES (${name}, '')`);

async function withNotes(): Promise<AsyncDisposable & { store: Store; folder: string }> {
  const fresh = await freshStore();
  await fresh.store.write((tx) => tx.run(sql`CREATE TABLE notes (name TEXT PRIMARY KEY, body TEXT)`));
  return fresh;
}

/** Settles all writes and tells which failed. */
async function outcomes(writes: Promise<unknown>[]): Promise<("stored" | "refused")[]> {
  return (await Promise.allSettled(writes)).map((r) => (r.status === "fulfilled" ? "stored" : "refused"));
}

describe("the write lane", () => {
  test("what is written can be read on the other connection as soon as the write resolves", async () => {
    await using db = await withNotes();
    await db.store.write((tx) => note(tx, "a"));
    expect(await names(db.store.read)).toEqual(["a"]);
  });

  test("of a group that is committed together only the one that throws is lost", async () => {
    await using db = await withNotes();
    const writes = Array.from({ length: 20 }, (_, i) =>
      db.store.write(async (tx) => {
        await note(tx, `n${String(i).padStart(2, "0")}`);
        if (i % 7 === 3) throw new Error("changed my mind");
        return i;
      }),
    );
    const results = await Promise.allSettled(writes);
    expect(results.filter((r) => r.status === "rejected").map((r) => (r.reason as Error).message)).toEqual([
      "changed my mind",
      "changed my mind",
      "changed my mind",
    ]);
    expect(results.flatMap((r) => (r.status === "fulfilled" ? [r.value] : []))).toHaveLength(17);
    expect((await names(db.store.read)).filter((name) => ["n03", "n10", "n17"].includes(name))).toEqual([]);
    expect(await names(db.store.read)).toHaveLength(17);
  });

  test("a statement that breaks a constraint loses its own write and no other", async () => {
    await using db = await withNotes();
    const writes = ["a", "b", "a", "c"].map((name) => db.store.write((tx) => note(tx, name)));
    expect(await outcomes(writes)).toEqual(["stored", "stored", "refused", "stored"]);
    expect(await names(db.store.read)).toEqual(["a", "b", "c"]);
  });

  test("writes see each other in the order they were asked for", async () => {
    await using db = await withNotes();
    const seen = await Promise.all(
      ["a", "b", "c"].map((name) =>
        db.store.write(async (tx) => {
          const before = await names(tx);
          await note(tx, name);
          return before;
        }),
      ),
    );
    expect(seen).toEqual([[], ["a"], ["a", "b"]]);
  });

  test("when the commit fails everybody in the group is told, and nothing is stored", async () => {
    await using db = await withNotes();
    // A foreign key that is checked at the commit only: the savepoints succeed, the commit does not.
    await db.store.write((tx) =>
      tx.run(sql`CREATE TABLE children (of TEXT REFERENCES notes (name) DEFERRABLE INITIALLY DEFERRED)`),
    );
    await db.store.write((tx) => note(tx, "first"));
    const group = [
      db.store.write((tx) => note(tx, "before")),
      db.store.write((tx) => tx.run(sql`INSERT INTO children VALUES ('nobody')`)),
      db.store.write((tx) => note(tx, "after")),
    ];
    expect(await outcomes(group)).toEqual(["refused", "refused", "refused"]);
    expect(await names(db.store.read)).toEqual(["first"]);
    await db.store.write((tx) => note(tx, "later"));
    expect(await names(db.store.read)).toEqual(["first", "later"]);
  });

  test("when the disk is full nobody is told that something is stored which is not", async () => {
    await using db = await withNotes();
    await db.store.write(async (tx) => {
      const [pages] = await tx.all<{ page_count: number }>(sql`PRAGMA page_count`);
      await tx.run(sql.raw(`PRAGMA max_page_count=${pages!.page_count + 2}`));
    });
    const big = (tx: Queries, name: string) =>
      tx.run(sql`INSERT INTO notes (name, body) VALUES (${name}, ${"x".repeat(200_000)})`);
    const writes = [
      db.store.write((tx) => note(tx, "a")),
      db.store.write((tx) => big(tx, "b")),
      db.store.write((tx) => note(tx, "c")),
      db.store.write((tx) => note(tx, "d")),
    ];
    const told = await outcomes(writes);
    for (const refused of writes) await expect(refused).rejects.toMatchObject({ cause: { code: "SQLITE_FULL" } });
    const stored = await names(db.store.read);
    expect(told[1]).toBe("refused");
    expect(["a", "b", "c", "d"].map((name) => (stored.includes(name) ? "stored" : "refused"))).toEqual(told);
    await db.store.write((tx) => note(tx, "later"));
    expect(await names(db.store.read)).toContain("later");
  });

  test("a read while a write is open sees what was committed before it", async () => {
    await using db = await withNotes();
    await db.store.write(async (tx) => {
      await note(tx, "a");
      expect(await names(db.store.read)).toEqual([]);
    });
    expect(await names(db.store.read)).toEqual(["a"]);
  });

  test("closing waits for the writes that were asked for", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "test.db");
    const store = await openStore(path);
    await store.write((tx) => tx.run(sql`CREATE TABLE notes (name TEXT PRIMARY KEY, body TEXT)`));
    const writes = Array.from({ length: 100 }, (_, i) => store.write((tx) => note(tx, `n${i}`)));
    await store.close();
    expect(new Set(await outcomes(writes))).toEqual(new Set(["stored"]));
    const again = await openStore(path);
    expect(await names(again.read)).toHaveLength(100);
    await again.close();
  });
});

describe("the file", () => {
  test("is durable on commit, in WAL mode, with foreign keys", async () => {
    await using db = await freshStore();
    const values = await db.store.write(async (tx) =>
      Promise.all(
        ["journal_mode", "synchronous", "foreign_keys"].map(
          async (name) => Object.values((await tx.all<Record<string, unknown>>(sql.raw(`PRAGMA ${name}`)))[0]!)[0],
        ),
      ),
    );
    expect(values).toEqual(["wal", 2, 1]);
  });

  test("lives in a folder whose name holds spaces and signs", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a b%20#c?.db");
    const store = await openStore(path);
    await store.write((tx) => tx.run(sql`CREATE TABLE notes (name TEXT)`));
    await store.close();
    expect(await Bun.file(path).exists()).toBe(true);
  });

  test("copies itself whole while it is open", async () => {
    await using db = await freshStore();
    const { userId } = await db.store.write((tx) => addUser(tx));
    const copy = join(db.folder, "copy.db");
    await db.store.copyTo(copy);
    using opened = new Database(copy, { readonly: true });
    expect(opened.query("SELECT id FROM users").all()).toEqual([{ id: userId }]);
    expect(opened.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  });

  test("keeps emoji and right-to-left marks as they were", async () => {
    await using db = await withNotes();
    const odd = `a 🎬 \u202e ${newId()}`;
    await db.store.write((tx) => note(tx, odd));
    expect(await names(db.store.read)).toEqual([odd]);
  });
});

describe("the revision of accounts", () => {
  test.each([
    ["an update by hand", "UPDATE users SET deleted_at = 1", true],
    ["an update of keys by hand", 'update  "api_keys" set expires_at = 1, last_used_at = 1', true],
    ["an update that skips conflicts", "UPDATE OR IGNORE api_keys SET last_used_at = 1", true],
    ["a deletion", "DELETE FROM `api_keys` WHERE id = 'x'", true],
    ["a replacement", "REPLACE INTO users (id, email, created_at) VALUES ('r', 'r@example.test', 1)", true],
    ["an insertion", "INSERT OR IGNORE INTO users (id, email, created_at) VALUES ('i', 'i@example.test', 1)", true],
    ["one behind a common table", "WITH old AS (SELECT 'x' AS id) DELETE FROM users WHERE id IN old", true],
    ["a read", "SELECT id FROM users", false],
    ["another table", "UPDATE projects SET name = 'x' WHERE user_id IN (SELECT id FROM users)", false],
  ])("%s", async (_, statement, changes) => {
    await using db = await freshStore();
    const before = db.store.accountsRevision();
    await db.store.write((tx) => tx.run(sql.raw(statement)));
    expect(db.store.accountsRevision() > before).toBe(changes);
  });

  test("does not count the note of a key's last use", async () => {
    await using db = await freshStore();
    const before = db.store.accountsRevision();
    await db.store.write((tx) => touchApiKey(tx, newId(), 1));
    expect(db.store.accountsRevision()).toBe(before);
  });
});
