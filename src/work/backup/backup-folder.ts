/** Reads and verifies backups in a folder. */
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
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

export type Backup = { path: string; manifest: BackupManifest };

/** Reads a backup. Throws `AppError` `bad_request` when the folder is not one. */
export async function readBackup(path: string): Promise<Backup> {
  const folder = resolve(path);
  const file = Bun.file(join(folder, MANIFEST_NAME));
  if (!(await file.exists()))
    throw new AppError("bad_request", `${folder} is not a backup: it has no ${MANIFEST_NAME}.`);
  try {
    return { path: folder, manifest: parseManifest(await file.text()) };
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
  { path, manifest }: Backup,
  { sample = 1, signal, random = Math.random }: { sample?: number; signal: AbortSignal; random?: () => number },
): Promise<VerifyReport> {
  const damaged: DamagedFile[] = [];
  let checked = 0;
  for (const file of manifest.files) {
    signal.throwIfAborted();
    const isRead = file.path === DATABASE_NAME || file.path === SECRETS_NAME || random() < sample;
    const problem = await findProblem(join(path, file.path), file, isRead, signal);
    if (isRead) checked++;
    if (problem !== null) damaged.push({ path: file.path, problem });
  }
  if (!damaged.some((file) => file.path === DATABASE_NAME)) {
    const [problem] = await findDatabaseProblems(join(path, DATABASE_NAME));
    if (problem !== undefined) damaged.push({ path: DATABASE_NAME, problem });
  }
  return { path, files: manifest.files.length, checked_files: checked, damaged };
}

async function findProblem(
  path: string,
  file: BackupFile,
  isRead: boolean,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return "is not a file";
    if (found.size !== file.bytes) return `has ${found.size} bytes, expected ${file.bytes}`;
    if (isRead && (await hashFile(path, signal)) !== file.sha256) return "has changed since the backup";
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return (error as NodeJS.ErrnoException).code === "ENOENT"
      ? "is missing"
      : `cannot be read: ${(error as Error).message}`;
  }
}
