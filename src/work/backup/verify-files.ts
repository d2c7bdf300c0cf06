/** Compares files with a manifest. */
import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BackupFile, DATABASE_NAME } from "../../domain/backup";
import { hashFile } from "../../lib/hash";
import { findDatabaseProblems } from "../../store/database-file";

export type DamagedFile = { path: string; problem: string };

/** Returns the location of a file or folder by its path in a backup. */
export type ResolvePath = (path: string) => string;

export const createResolver =
  (folder: string): ResolvePath =>
  (path) =>
    join(folder, path);

/** An expected file. `sha256` null: its content is unknown, so only its size is compared. */
type ExpectedFile = Pick<BackupFile, "path" | "bytes"> & { sha256: string | null };

/**
 * Compares the sizes of files, and the content of those that `isRead` chooses. `hasDatabase`: checks the database among
 * them, too. Links are damage: they would lead out of the backup. Returns the damaged files. Errors: the signal's
 * reason.
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

/** Returns a function that checks whether a folder of a path is a link. Each folder is checked once. */
export function createLinkedFolderFinder(resolvePath: ResolvePath): (path: string) => Promise<string | null> {
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
