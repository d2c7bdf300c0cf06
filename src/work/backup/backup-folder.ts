/** Reads and verifies backups in a folder. */
import { lstat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { listNames } from "../../blobs/trash";
import {
  type BackupFile,
  type BackupManifest,
  DATABASE_NAME,
  MANIFEST_NAME,
  parseBackupName,
  parseManifest,
  SECRETS_NAME,
} from "../../domain/backup";
import { AppError } from "../../domain/errors";
import { hashFile } from "../../lib/hash";
import { findDatabaseProblems } from "../../store/database-file";

/** A backup in a folder or a bucket. `path`: where it is, for people. */
export type Backup = {
  path: string;
  manifest: BackupManifest;
  /** Reads the files, or a sample of them, and returns the damaged ones. */
  verify(options: VerifyOptions): Promise<VerifyReport>;
  /**
   * Writes all files but those in `skipped` to a folder. Returns the damaged ones, which are not written. Errors: `storage_full` when they do not
   * fit. Null: `path` is a folder with the files.
   */
  download:
    | ((folder: string, skipped: readonly { path: string }[], signal: AbortSignal) => Promise<DamagedFile[]>)
    | null;
};

export type VerifyOptions = { sample?: number; signal: AbortSignal; random?: () => number };

/** A manifest has about 200 bytes for each file. */
const MAX_MANIFEST_BYTES = 1024 ** 3;

/** Reads a backup. Throws `AppError` `bad_request` when the folder is not one. */
export async function readBackup(path: string): Promise<Backup> {
  const folder = resolve(path);
  const file = Bun.file(join(folder, MANIFEST_NAME));
  if (!(await file.exists()))
    throw new AppError("bad_request", `${folder} is not a backup: it has no ${MANIFEST_NAME}.`);
  if (file.size > MAX_MANIFEST_BYTES)
    throw new AppError("bad_request", `${folder} is not a valid backup: ${MANIFEST_NAME} is too large.`);
  try {
    const backup = { path: folder, manifest: parseManifest(await file.text()) };
    return { ...backup, verify: (options) => verifyBackup(backup, options), download: null };
  } catch (error) {
    throw new AppError("bad_request", `${folder} is not a valid backup: ${(error as Error).message}`);
  }
}

/**
 * Returns the newest backup in a folder that was made until `until` (milliseconds since 1970), or null. Folders whose manifest is missing or
 * damaged are skipped. `hasMedia`: only those with media.
 */
export async function findNewestBackup(
  folder: string,
  { until = Number.POSITIVE_INFINITY, hasMedia = false } = {},
): Promise<Backup | null> {
  const names = (await listNames(folder)).filter(
    (name) => (parseBackupName(name) ?? Number.POSITIVE_INFINITY) <= until,
  );
  for (const name of names
    .filter((each) => parseBackupName(each) !== null)
    .sort()
    .reverse()) {
    const backup = await readBackup(join(folder, name)).catch(() => null);
    if (backup !== null && (backup.manifest.has_media || !hasMedia)) return backup;
  }
  return null;
}

export type DamagedFile = { path: string; problem: string };
export type VerifyReport = { path: string; files: number; checked_files: number; damaged: DamagedFile[] };

/**
 * Reads the files of a backup and compares them with its manifest. `sample` from 0 to 1 is the share of media files that are read; sizes are always
 * compared, and the database is always checked. Errors: the signal's reason.
 */
export async function verifyBackup(
  { path, manifest }: Pick<Backup, "path" | "manifest">,
  { sample = 1, signal, random = Math.random }: VerifyOptions,
): Promise<VerifyReport> {
  let checked = 0;
  const isRead = (file: { path: string }) => {
    const isChosen = file.path === DATABASE_NAME || file.path === SECRETS_NAME || random() < sample;
    if (isChosen) checked++;
    return isChosen;
  };
  const damaged = await verifyFiles(createResolver(path), manifest.files, { isRead, hasDatabase: true, signal });
  return { path, files: manifest.files.length, checked_files: checked, damaged };
}

/** Returns where a file or folder is by its path in a backup. */
export type ResolvePath = (path: string) => string;

/** Returns the function for the files of a backup. */
export const createResolver =
  (folder: string): ResolvePath =>
  (path) =>
    join(folder, path);

/** A file as it must be. `sha256` null: its content is not known, so that only its size is compared. */
type ExpectedFile = Pick<BackupFile, "path" | "bytes"> & { sha256: string | null };

/**
 * Compares the sizes of files, and the content of those that `isRead` chooses. `hasDatabase`: checks the database among them, too. Links are damage: they would lead out of the backup. Returns what is damaged. Errors: the signal's reason.
 */
export async function verifyFiles(
  resolvePath: ResolvePath,
  files: readonly ExpectedFile[],
  {
    isRead = () => true,
    hasDatabase,
    signal,
  }: { isRead?: (file: ExpectedFile) => boolean; hasDatabase: boolean; signal: AbortSignal },
): Promise<DamagedFile[]> {
  const damaged: DamagedFile[] = [];
  const findLinkedFolder = createLinkedFolderFinder(resolvePath);
  for (const file of files) {
    signal.throwIfAborted();
    const problem =
      (await findLinkedFolder(file.path)) ?? (await findProblem(resolvePath(file.path), file, isRead(file), signal));
    if (problem !== null) damaged.push({ path: file.path, problem });
  }
  if (hasDatabase && !damaged.some((file) => file.path === DATABASE_NAME)) {
    const [problem] = await findDatabaseProblems(resolvePath(DATABASE_NAME));
    if (problem !== undefined) damaged.push({ path: DATABASE_NAME, problem });
  }
  return damaged;
}

/** Returns a function that says whether a folder of a path is a link. Each folder is looked at once. */
function createLinkedFolderFinder(resolvePath: ResolvePath): (path: string) => Promise<string | null> {
  const known = new Map<string, Promise<boolean>>();
  const isLink = (path: string) => {
    const found =
      known.get(path) ??
      lstat(path).then(
        (entry) => entry.isSymbolicLink(),
        () => false,
      );
    known.set(path, found);
    return found;
  };
  return async (path) => {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder))
      if (await isLink(resolvePath(folder))) return `is in ${folder}, which is a link`;
    return null;
  };
}

async function findProblem(
  path: string,
  file: ExpectedFile,
  isRead: boolean,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) return "is not a file";
    if (found.size !== file.bytes) return `has ${found.size} bytes, expected ${file.bytes}`;
    if (isRead && file.sha256 !== null && (await hashFile(path, signal)) !== file.sha256)
      return "has changed since the backup";
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return (error as NodeJS.ErrnoException).code === "ENOENT"
      ? "is missing"
      : `cannot be read: ${(error as Error).message}`;
  }
}
