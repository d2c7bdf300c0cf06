/** Backups: their manifests, their names, and which of them are kept. */

/** A file of a backup. `path` is relative to the backup and has `/` between its parts. */
export type BackupFile = { path: string; bytes: number; sha256: string; modified_at: number };

/** The balance of a workspace: the sums of its ledger and of its holds. `entries` is the number of ledger entries. */
export type WorkspaceBalance = { workspace_id: string; entries: number; credits: number; held: number };

/** The manifest is written last: a folder without one is not a backup. Times are ISO 8601. */
export type BackupManifest = {
  format: 1;
  created_at: string;
  /** Version of the executable, and the newest migration of the database. */
  version: string;
  schema: string;
  has_media: boolean;
  files: BackupFile[];
  /** Files that the database refers to and that did not exist. */
  missing: string[];
  /** The ID of the data folder. Older versions did not write it. */
  folder_id?: string;
  /** The balances when the database was copied. Older versions did not write them. */
  balances?: WorkspaceBalance[];
};

export const MANIFEST_NAME = "manifest.json";
export const DATABASE_NAME = "offcut.db";
export const SECRETS_NAME = "secrets.json";

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
  const manifest = value as BackupManifest;
  if (manifest?.format !== 1) throw new Error(`${MANIFEST_NAME} has an unknown format.`);
  const isText = (field: unknown) => typeof field === "string";
  const isValid =
    [manifest.created_at, manifest.version, manifest.schema].every(isText) &&
    typeof manifest.has_media === "boolean" &&
    (manifest.folder_id === undefined || isText(manifest.folder_id)) &&
    Array.isArray(manifest.missing) &&
    manifest.missing.every(isText) &&
    Array.isArray(manifest.files) &&
    manifest.files.every(isBackupFile) &&
    (manifest.balances === undefined || (Array.isArray(manifest.balances) && manifest.balances.every(isBalance)));
  if (!isValid) throw new Error(`${MANIFEST_NAME} is damaged.`);
  if (new Set(manifest.files.map(({ path }) => path)).size !== manifest.files.length)
    throw new Error(`${MANIFEST_NAME} lists a file twice.`);
  for (const required of [DATABASE_NAME, SECRETS_NAME])
    if (!manifest.files.some(({ path }) => path === required)) throw new Error(`${MANIFEST_NAME} lacks ${required}.`);
  return manifest;
}

function isBackupFile(file: unknown): boolean {
  const { path, bytes, sha256, modified_at } = (file ?? {}) as Partial<BackupFile>;
  return (
    typeof path === "string" &&
    isBackupPath(path) &&
    Number.isSafeInteger(bytes) &&
    bytes! >= 0 &&
    typeof sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Number.isFinite(modified_at)
  );
}

function isBalance(value: unknown): boolean {
  const { workspace_id, entries, credits, held } = (value ?? {}) as Partial<WorkspaceBalance>;
  return typeof workspace_id === "string" && [entries, credits, held].every(Number.isSafeInteger);
}

const MAX_PATH_CHARACTERS = 500;

/** Returns whether a path may be in a backup. Manifests may come from untrusted sources. */
function isBackupPath(path: string): boolean {
  if (path === DATABASE_NAME || path === SECRETS_NAME) return true;
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

/** Returns the sum of the sizes of files. */
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
 * Returns the backups to remove, by their times: all but the newest of each of the last `daily` local days and of each of the last `weekly` weeks
 * that have a backup, and the newest of all. Times in the future stay and are not counted: the clock was wrong once, and they must not replace
 * the backups that are made now. `damaged` ones take the place of none that is good. They have good files too, and go when a good one of their age
 * would, as long as there is a good one.
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
