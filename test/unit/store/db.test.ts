import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { newId } from "../../../src/lib/ids";
import type { Queries, Store } from "../../../src/store/db";
import { openStore } from "../../../src/store/db";
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

/** Waits for all writes and returns which ones failed. */
async function outcomes(writes: Promise<unknown>[]): Promise<("stored" | "refused")[]> {
  return (await Promise.allSettled(writes)).map((r) => (r.status === "fulfilled" ? "stored" : "refused"));
}

describe("write", () => {
  test("resolves when the reading connection can read the change", async () => {
    await using db = await withNotes();
    await db.store.write((tx) => note(tx, "a"));
    expect(await names(db.store.read)).toEqual(["a"]);
  });

  test("loses only the write that throws in a group", async () => {
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

  test("loses only the write that violates a constraint", async () => {
    await using db = await withNotes();
    const writes = ["a", "b", "a", "c"].map((name) => db.store.write((tx) => note(tx, name)));
    expect(await outcomes(writes)).toEqual(["stored", "stored", "refused", "stored"]);
    expect(await names(db.store.read)).toEqual(["a", "b", "c"]);
  });

  test("runs writes in order, and each sees the ones before", async () => {
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

  test("rejects the whole group and stores nothing if the commit fails", async () => {
    await using db = await withNotes();
    // A foreign key that is checked at the commit: the savepoints succeed, the commit fails.
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

  test("resolves no write that is not stored if the disk is full", async () => {
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
    const reported = await outcomes(writes);
    for (const refused of writes) await expect(refused).rejects.toMatchObject({ cause: { code: "SQLITE_FULL" } });
    const stored = await names(db.store.read);
    expect(reported[1]).toBe("refused");
    expect(["a", "b", "c", "d"].map((name) => (stored.includes(name) ? "stored" : "refused"))).toEqual(reported);
    await db.store.write((tx) => note(tx, "later"));
    expect(await names(db.store.read)).toContain("later");
  });

  test("shows the previous commit to a read during an open write", async () => {
    await using db = await withNotes();
    await db.store.write(async (tx) => {
      await note(tx, "a");
      expect(await names(db.store.read)).toEqual([]);
    });
    expect(await names(db.store.read)).toEqual(["a"]);
  });

  test("finishes queued writes before the store closes", async () => {
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

describe("a statement that is used again", () => {
  const read = async (queries: Queries, name: string) =>
    await queries.all<Record<string, unknown>>(
      sql`SELECT name, body, length(body) AS size FROM notes WHERE name = ${name}`,
    );

  test("sees what was written in between, and holds no snapshot back", async () => {
    await using db = await withNotes();
    for (const size of [1, 2, 3]) {
      await db.store.write((tx) => tx.run(sql`INSERT OR REPLACE INTO notes VALUES ('a', ${"x".repeat(size)})`));
      expect(await read(db.store.read, "a")).toEqual([{ name: "a", body: "x".repeat(size), size }]);
      expect(await read(db.store.read, "b")).toEqual([]);
    }
    // With an open snapshot of a reader, the log could not be emptied.
    await db.store.read.all(sql`PRAGMA wal_checkpoint(TRUNCATE)`);
    expect(Bun.file(join(db.folder, "test.db-wal")).size).toBe(0);
  });

  test("works after it has failed, and after a change of the schema", async () => {
    await using db = await withNotes();
    for (const _ of [1, 2]) {
      expect(await outcomes(["a", "a"].map((name) => db.store.write((tx) => note(tx, name))))).toContain("refused");
      await db.store.write((tx) => tx.run(sql`DELETE FROM notes`));
    }
    await read(db.store.read, "a");
    await db.store.write(async (tx) => {
      await tx.run(sql`ALTER TABLE notes RENAME TO old`);
      await tx.run(sql`CREATE TABLE notes (body TEXT, more TEXT, name TEXT)`);
    });
    await db.store.write((tx) => note(tx, "a"));
    expect(await read(db.store.read, "a")).toEqual([{ name: "a", body: "", size: 0 }]);
    await db.store.write((tx) => tx.run(sql`DROP TABLE notes`));
    await expect(read(db.store.read, "a")).rejects.toMatchObject({
      cause: { code: "SQLITE_ERROR", message: "SQLITE_ERROR: no such table: notes" },
    });
  });

  test("is one of many, with many and large arguments", async () => {
    await using db = await withNotes();
    const list = Array.from({ length: 1_000 }, (_, n) => `n${n}`);
    const large = "x".repeat(1_000_000);
    for (let n = 0; n < 500; n++) {
      const rows = await db.store.read.all<{ n: number }>(sql`SELECT ${sql.raw(String(n))} AS n, ${large} AS x`);
      expect(rows.map((row) => row.n)).toEqual([n]);
    }
    const found = sql`SELECT count(*) AS n FROM notes WHERE name IN ${list}`;
    for (const _ of [1, 2]) expect(await db.store.read.all<{ n: number }>(found)).toEqual([{ n: 0 }]);
  });

  test("returns two columns of one name by their places, and values of each type", async () => {
    await using db = await withNotes();
    const [row] = await db.store.read.values<unknown[]>(
      sql`SELECT 1 AS id, 'b' AS id, 2.5 AS length, NULL, x'0102' AS bytes, ${true} AS yes`,
    );
    expect(Array.from(row!)).toEqual([1, "b", 2.5, null, new Uint8Array([1, 2]).buffer, 1]);
    const [named] = await db.store.read.all<Record<string, unknown>>(sql`SELECT 1 AS id, 'b' AS id, x'0102' AS bytes`);
    expect(named).toEqual({ id: 1, bytes: new Uint8Array([1, 2]).buffer });
    const unsafe = async () => await db.store.read.all(sql`SELECT 9007199254740993 AS n`);
    await expect(unsafe()).rejects.toMatchObject({ cause: expect.any(RangeError) });
  });

  test("belongs to a transaction, and to an open database", async () => {
    await using db = await withNotes();
    let leaked: Queries | null = null;
    await db.store.write(async (tx) => {
      leaked = tx;
      await note(tx, "a");
    });
    expect(await outcomes([(async () => note(leaked!, "b"))()])).toEqual(["refused"]);
    await db.store.close();
    expect(await db.store.isAlive()).toBe(false);
    await expect(names(db.store.read)).rejects.toMatchObject({ cause: { code: "CLIENT_CLOSED" } });
    expect(await outcomes([db.store.write((tx) => note(tx, "c"))])).toEqual(["refused"]);
  });
});

describe("the database file", () => {
  test("uses WAL mode, synchronous=FULL and foreign keys", async () => {
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

  test("opens in a folder with spaces and special characters in its name", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a b%20#c?.db");
    const store = await openStore(path);
    await store.write((tx) => tx.run(sql`CREATE TABLE notes (name TEXT)`));
    await store.close();
    expect(await Bun.file(path).exists()).toBe(true);
  });

  test("is copied consistently while it is open", async () => {
    await using db = await freshStore();
    const { userId } = await db.store.write((tx) => addUser(tx));
    const copy = join(db.folder, "copy.db");
    await db.store.copyTo(copy);
    using opened = new Database(copy, { readonly: true });
    expect(opened.query("SELECT id FROM users").all()).toEqual([{ id: userId }]);
    expect(opened.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  });

  test("stores emoji and right-to-left marks unchanged", async () => {
    await using db = await withNotes();
    const odd = `a 🎬 \u202e ${newId()}`;
    await db.store.write((tx) => note(tx, odd));
    expect(await names(db.store.read)).toEqual([odd]);
  });
});
