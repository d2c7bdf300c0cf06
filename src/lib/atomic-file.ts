/**
 * Files that survive a power failure: a temporary file in the same folder is flushed to disk and renamed, and its
 * folder is flushed, because only that stores the name.
 */
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ignoreCodes } from "./error-codes";
import { newId } from "./ids";

/** File permissions of secrets: only the owner may read and write. */
export const SECRET_FILE_MODE = 0o600;
const USUAL_FILE_MODE = 0o666;

/**
 * Writes `data` to `path` atomically: no reader and no power failure ever sees a partial file. Creates the folder. The
 * file is on disk when it resolves.
 */
export async function writeAtomic(path: string, data: string | Uint8Array, mode = USUAL_FILE_MODE): Promise<void> {
  await createFolders(dirname(path));
  const part = `${path}.${newId()}.part`;
  try {
    await writeFile(part, data, { flag: "wx", mode });
    await flushFile(part);
    await renameDurably(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

const temporaryFolders = new Set<string>();

/**
 * Skips flushing a folder that is of no use after a crash, and what is below it, until the result is called. `folder`
 * is absolute, without a slash at its end.
 */
export function skipFlushesBelow(folder: string): () => void {
  temporaryFolders.add(folder);
  return () => temporaryFolders.delete(folder);
}

/**
 * Flushes a file to disk, so that its content survives a power failure after a rename or commit that relies on it. Does
 * nothing below a folder of `skipFlushesBelow`.
 */
export async function flushFile(path: string): Promise<void> {
  for (const folder of temporaryFolders) if (`${path}/`.startsWith(`${folder}/`)) return;
  await flushToDisk(path);
}

/** Error codes of network file systems that cannot flush a folder: they store names by themselves, or not at all. */
const UNSUPPORTED = ["EACCES", "EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EPERM"];

/** Flushes the names in a folder to disk, if the file system can. */
export async function flushFolder(path: string): Promise<void> {
  await flushFile(path).catch(ignoreCodes(...UNSUPPORTED));
}

/**
 * Renames a file or folder, on the same file system, and flushes the name to disk, so that a row which refers to it can
 * be committed. Its content must be flushed before.
 */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await flushFolder(dirname(to));
}

/** Creates a folder and those above it, and flushes their names to disk. Ignores an existing one. */
export async function createFolders(path: string): Promise<void> {
  const folder = resolve(path);
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let created = folder; created.length >= first.length; created = dirname(created))
    await flushFolder(dirname(created));
}

/** Flushes a file to disk, wherever it is. */
export async function flushToDisk(path: string): Promise<void> {
  const file = await open(path, "r");
  await file.sync().finally(() => file.close());
}
