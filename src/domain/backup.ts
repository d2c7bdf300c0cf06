/** Backups: their manifests, their names, and which of them are kept. */
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

const text = Type.String();
const integer = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });

/** A file of a backup. `path` is relative to the backup and has `/` between its parts. */
const backupFile = Type.Object({
  path: text,
  bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  modified_at: Type.Number(),
});
export type BackupFile = Static<typeof backupFile>;

/** The balance of a workspace: the sums of its ledger and of its holds. `entries` is the number of ledger entries. */
const workspaceBalance = Type.Object({ workspace_id: text, entries: integer, credits: integer, held: integer });
export type WorkspaceBalance = Static<typeof workspaceBalance>;

/** The manifest is written last: a folder without one is not a backup. Times are ISO 8601. */
const backupManifest = Type.Object({
  format: Type.Literal(1),
  created_at: text,
  /** Version of the executable, and the newest migration of the database. */
  version: text,
  schema: text,
  has_media: Type.Boolean(),
  files: Type.Array(backupFile),
  /** Files that the database refers to and that did not exist. */
  missing: Type.Array(text),
  /** The ID of the data folder. Older versions did not write it. */
  folder_id: Type.Optional(text),
  /** The balances when the database was copied. Older versions did not write them. */
  balances: Type.Optional(Type.Array(workspaceBalance)),
});
export type BackupManifest = Static<typeof backupManifest>;

const manifestCheck = TypeCompiler.Compile(backupManifest);

export const MANIFEST_NAME = "manifest.json";
export const DATABASE_NAME = "offcut.db";
export const SECRETS_NAME = "secrets.json";

/** Returns whether nothing can be restored without a file. All other files are media. */
export const isEssential = (path: string): boolean => path === DATABASE_NAME || path === SECRETS_NAME;

/** Folders of a data folder that a backup contains. Work folders, exports and extracted assets are created again. */
export const BACKUP_FOLDERS = ["media", "renders", "uploads", "models", "snapshots", "trash"] as const;

/** Returns the name of a backup: `offcut-2027-01-31T02-00-00Z`. */
export const formatBackupName = (time: number): string =>
  `offcut-${new Date(time).toISOString().slice(0, 19).replaceAll(":", "-")}Z`;

const BACKUP_NAME = /^offcut-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z$/;

/** Returns the time in the name of a backup, in milliseconds since 1970; null for any other name. */
export function parseBackupName(name: string): number | null {
  const [, date, hours, minutes, seconds] = BACKUP_NAME.exec(name) ?? [];
  const time = Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(time) ? null : time;
}

/** Parses a manifest. Throws an `Error` with the reason if it does not have this format. */
export function parseManifest(text: string): BackupManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${MANIFEST_NAME} is not valid JSON.`);
  }
  if ((value as BackupManifest | null)?.format !== 1) throw new Error(`${MANIFEST_NAME} has an unknown format.`);
  if (!manifestCheck.Check(value) || !value.files.every(({ path }) => isBackupPath(path)))
    throw new Error(`${MANIFEST_NAME} is damaged.`);
  if (new Set(value.files.map(({ path }) => path)).size !== value.files.length)
    throw new Error(`${MANIFEST_NAME} lists a file twice.`);
  for (const required of [DATABASE_NAME, SECRETS_NAME])
    if (!value.files.some(({ path }) => path === required)) throw new Error(`${MANIFEST_NAME} lacks ${required}.`);
  return value;
}

const MAX_PATH_CHARACTERS = 500;

/** Returns whether a path may be in a backup. Manifests may come from untrusted sources. */
function isBackupPath(path: string): boolean {
  if (isEssential(path)) return true;
  const [folder, ...names] = path.split("/");
  return (
    path.length <= MAX_PATH_CHARACTERS &&
    BACKUP_FOLDERS.some((name) => name === folder) &&
    names.length > 0 &&
    names.every((name) => name !== "" && name !== "." && name !== ".." && !/[\p{Cc}\\]/u.test(name))
  );
}

/**
 * Returns whether a backup may belong to the data folder with this ID. Backups of another folder must not count: Offcut
 * would then skip its own backups and delete the others.
 */
export const isOwnBackup = ({ folder_id }: Pick<BackupManifest, "folder_id">, folderId: string | null): boolean =>
  folder_id === undefined || folderId === null || folder_id === folderId;

export const sumBytes = (files: readonly { bytes: number }[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns the last time before `now` with the local time of day `at` (`HH:MM`), in milliseconds since 1970. */
export function findLastDueTime(now: number, at: string): number {
  const [hours = 0, minutes = 0] = at.split(":").map(Number);
  const due = new Date(now);
  due.setHours(hours, minutes, 0, 0);
  // Calendar arithmetic, because days on which clocks change have 23 or 25 hours.
  if (due.getTime() > now) due.setDate(due.getDate() - 1);
  return due.getTime();
}

export type PruneRule = { daily: number; weekly: number };

/**
 * Returns the backups to remove, by their times: all but the newest of each of the last `daily` local days and of each
 * of the last `weekly` weeks that have a backup, and the newest of all. Times in the future stay and are not counted:
 * the clock was wrong once, and they must not replace the backups that are made now. `damaged` ones take the place of
 * none that is good. They contain good files too, so they are removed when a good backup of their age would be, as long
 * as a good one exists.
 */
export function selectBackupsToPrune(
  good: readonly number[],
  keep: PruneRule,
  now: number,
  damaged: readonly number[] = [],
): number[] {
  const all = [...good, ...damaged].filter((time) => time <= now).sort((a, b) => b - a);
  const kept = selectKept(all, keep).union(
    selectKept(
      all.filter((time) => good.includes(time)),
      keep,
    ),
  );
  return good.some((time) => time <= now) ? all.filter((time) => !kept.has(time)) : [];
}

/** Returns the times of the backups to keep, if all are good. */
function selectKept(newestFirst: readonly number[], keep: PruneRule): Set<number> {
  const kept = new Set(newestFirst.slice(0, 1));
  const keepNewestOf = (count: number, toPeriod: (time: number) => number) => {
    const periods = new Set<number>();
    for (const time of newestFirst) {
      const period = toPeriod(time);
      if (periods.has(period)) continue;
      if (periods.size === count) break;
      periods.add(period);
      kept.add(time);
    }
  };
  keepNewestOf(keep.daily, toLocalDay);
  // 1970-01-01 was a Thursday, and weeks begin on Monday.
  keepNewestOf(keep.weekly, (time) => Math.floor((toLocalDay(time) + 3) / 7));
  return kept;
}

/** Returns the number of the local day since 1970-01-01. */
function toLocalDay(time: number): number {
  const date = new Date(time);
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000);
}
