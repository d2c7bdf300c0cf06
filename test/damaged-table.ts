import { Database } from "bun:sqlite";
import { open } from "node:fs/promises";

/** Overwrites the header of the page with the rows of a table. */
export async function damageTable(path: string, table: string): Promise<void> {
  using database = new Database(path, { readwrite: true, create: false });
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const [root] = database.query("SELECT rootpage FROM sqlite_master WHERE name = ?").values(table) as [[number]];
  const [size] = database.query("PRAGMA page_size").values() as [[number]];
  await using file = await open(path, "r+");
  await file.write(new Uint8Array(16).fill(0xa5), 0, 16, (root[0] - 1) * size[0]);
}
