/** Databases of older versions, which a migration keeps for 14 days: `offcut-before-0020_name-2027-01-31.db`. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { listAdditions, readFigures, withDatabase, withUnchangedDatabase } from "./database-figures";
import { isKnownMigration } from "./migrate";

/** A database that is replaced by an older one is named `offcut-after-…`. */
const KEPT_NAME = /^offcut-(before|after)-(\w+)-(\d{4}-\d{2}-\d{2})\.db$/;
const KEPT_MS = 14 * 24 * 3600 * 1000;

/** A kept database that this version can open. `day` is the day of the migration. */
export type KeptDatabase = { name: string; day: string };

/** Returns the name for keeping the database from before or after migrations up to `newest`. */
export const formatKeptName = (kind: "before" | "after", newest: string, now: number): string =>
  `offcut-${kind}-${newest}-${new Date(now).toISOString().slice(0, 10)}.db`;

/**
 * Returns the newest database kept in `folder` that this version can open, or null. With `newest`, considers only those
 * replaced by migrations up to that one.
 */
export async function findKeptDatabase(folder: string, newest: string | null = null): Promise<KeptDatabase | null> {
  const found = (await readdir(folder)).flatMap((name) => {
    const [, kind, migration, day] = KEPT_NAME.exec(name) ?? [];
    return kind === "before" && (newest === null || migration === newest) ? [{ name, day: day! }] : [];
  });
  // On the same day, the newer schema comes first.
  found.sort((a, b) => b.day.localeCompare(a.day) || b.name.localeCompare(a.name));
  return found.find(({ name }) => isUsable(join(folder, name))) ?? null;
}

function isUsable(path: string): boolean {
  try {
    const names = withUnchangedDatabase(path, (kept) => kept.query("SELECT name FROM migrations").values().flat());
    return names.every((name) => isKnownMigration(String(name)));
  } catch {
    return false;
  }
}

/** Lists what a kept database lacks compared to the one at `path`, such as `2 recordings`. Both must be closed. */
export const listLosses = (path: string, kept: string): string[] =>
  listAdditions(withUnchangedDatabase(kept, readFigures), withDatabase(path, readFigures));

/** Removes the databases in `folder` that were kept for 14 days. */
export async function removeOldKept(folder: string, confirmedNow: number): Promise<void> {
  const isOld = (day: string | undefined) => day !== undefined && Date.parse(day) < confirmedNow - KEPT_MS;
  const old = (await readdir(folder)).filter((name) => isOld(KEPT_NAME.exec(name)?.[3]));
  for (const name of old) await rm(join(folder, name), { force: true });
}
