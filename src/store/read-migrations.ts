/**
 * The SQL files of the migrations. A macro: it runs when the sources are loaded or bundled, and the executable contains
 * its result.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the migrations in order, named as their files. */
export function readMigrations(): { name: string; sql: string }[] {
  const folder = join(import.meta.dir, "../../migrations");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  return files.sort().map((file) => ({ name: file.slice(0, -4), sql: readFileSync(join(folder, file), "utf8") }));
}
