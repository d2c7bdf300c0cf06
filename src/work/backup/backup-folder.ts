/** Reads and verifies backups in a folder. */
import { basename, join, resolve } from "node:path";
import { type BackupManifest, DATABASE_NAME, isEssential, MANIFEST_NAME, parseBackupName } from "../../domain/backup";
import { type FolderBackup, listFolderBackups, readManifest } from "./backup-manifest";
import { recordDamage } from "./damage";
import { createResolver, type DamagedFile, verifyFiles } from "./verify-files";

/** A backup in a folder or a bucket. `path`: its place, for people. */
export type Backup = {
  path: string;
  manifest: BackupManifest;
  /** Reads the files, or some of them, and returns the damaged ones, which the next backup stores again. */
  verify(options: VerifyOptions): Promise<VerifyReport>;
  /**
   * Writes all files but those in `skipped` to a folder. Returns the damaged ones, which are not written. Errors:
   * `storage_full` when they do not fit. Null: `path` is a folder with the files.
   */
  download:
    | ((folder: string, skipped: readonly { path: string }[], signal: AbortSignal) => Promise<DamagedFile[]>)
    | null;
};

/** `sample`: the share of media files that are read, from 0 to 1. `paths`: only these files are read. */
export type VerifyOptions = {
  sample?: number;
  paths?: ReadonlySet<string>;
  signal: AbortSignal;
  random?: () => number;
};

/** Returns whether a verification reads a file. Sizes of all files are compared. */
export function isChosen(path: string, { sample = 1, paths, random = Math.random }: VerifyOptions): boolean {
  if (paths !== undefined) return paths.has(path);
  return isEssential(path) || random() < sample;
}

/** Reads a backup. Throws `AppError` `bad_request` when the folder is not one. */
export async function readBackup(path: string): Promise<Backup> {
  return toBackup({ path: resolve(path), manifest: await readManifest(resolve(path)) });
}

const toBackup = ({ path, manifest }: Pick<FolderBackup, "path" | "manifest">): Backup => ({
  path,
  manifest,
  verify: (options) => verifyBackup({ path, manifest }, options),
  download: null,
});

/** Yields the backups in a folder. Skips those whose manifest is missing or damaged. */
export async function* listBackups(folder: string, first: "oldest" | "newest" = "newest"): AsyncGenerator<Backup> {
  for await (const backup of listFolderBackups(resolve(folder), first)) yield toBackup(backup);
}

/** Yields the backups in a folder, or the folder itself if it is a backup. */
export async function* listBackupsAt(path: string, first?: "oldest" | "newest"): AsyncGenerator<Backup> {
  if (await isBackup(path)) yield await readBackup(path);
  else yield* listBackups(path, first);
}

export const isBackup = (path: string): Promise<boolean> => Bun.file(join(path, MANIFEST_NAME)).exists();

/** `until`: in milliseconds since 1970. `hasMedia`: only backups with media. */
export type FindOptions = { until?: number; hasMedia?: boolean };

/** Returns the first of the backups, the newest first, that was made until `until`, or null. */
export async function findBackup<T extends Pick<Backup, "path" | "manifest">>(
  newestFirst: AsyncIterable<T>,
  { until = Number.POSITIVE_INFINITY, hasMedia = false }: FindOptions = {},
): Promise<T | null> {
  for await (const backup of newestFirst)
    if (parseBackupName(basename(backup.path))! <= until && (backup.manifest.has_media || !hasMedia)) return backup;
  return null;
}

/** Returns the newest backup in a folder, or null. */
export const findNewestBackup = (folder: string, options?: FindOptions): Promise<Backup | null> =>
  findBackup(listBackups(folder), options);

/** `notes`: sentences for the administrator. */
export type VerifyReport = {
  path: string;
  files: number;
  checked_files: number;
  damaged: DamagedFile[];
  notes: string[];
};

/**
 * Reads the files of a backup and compares them with its manifest. Sizes are always compared, and the database is
 * always checked unless `paths` are chosen. Problems are recorded in the backup. Errors: the signal's reason.
 */
export async function verifyBackup(
  { path, manifest }: Pick<Backup, "path" | "manifest">,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const { signal } = options;
  const checked = new Set<string>();
  const isRead = (file: { path: string }) => {
    if (isChosen(file.path, options)) checked.add(file.path);
    return checked.has(file.path);
  };
  const hasDatabase = options.paths?.has(DATABASE_NAME) ?? true;
  const damaged = await verifyFiles(createResolver(path), manifest.files, { isRead, hasDatabase, signal });
  const notes = await describeUnrecorded(recordDamage({ path, manifest }, { damaged, checked }));
  return { path, files: manifest.files.length, checked_files: checked.size, damaged, notes };
}

/** Returns a sentence for the administrator if the recording of damage fails. */
export const describeUnrecorded = (recording: Promise<void>): Promise<string[]> =>
  recording.then(
    () => [],
    (error: Error) => [`The damage could not be recorded, so the next backup may keep it: ${error.message}`],
  );
