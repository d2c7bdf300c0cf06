/**
 * Databases with the schema of this version. They are copies of one that was migrated: the migrations take 70 ms of
 * processor time.
 */
import { join } from "node:path";
import { openStore, type Store } from "../src/store/db";
import { migrate } from "../src/store/migrate";
import { temporaryFolder } from "./temporary-folder";

let migrated: Promise<Uint8Array> | null = null;

async function createDatabase(): Promise<Uint8Array> {
  await using folder = await temporaryFolder();
  const store = await openStore(join(folder.path, "source.db"));
  await migrate(store);
  // The log of the source contains changes that are not in its file yet.
  const copy = join(folder.path, "copy.db");
  await store.copyTo(copy, { isTemporary: true });
  await store.close();
  return await Bun.file(copy).bytes();
}

/** Writes an empty database to `path`. */
export async function writeMigratedDatabase(path: string): Promise<void> {
  migrated ??= createDatabase();
  await Bun.write(path, await migrated);
}

/** Opens a new database at `path`. */
export async function createMigratedStore(path: string): Promise<Store> {
  await writeMigratedDatabase(path);
  return openStore(path);
}
