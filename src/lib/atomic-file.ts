/** Atomic file writes: to a temporary file in the same folder, which is flushed to disk and renamed. */
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { newId } from "./ids";

/** File permissions of secrets: only the owner may read and write. */
export const SECRET_FILE_MODE = 0o600;
const USUAL_FILE_MODE = 0o666;

/** Writes `data` to `path` atomically: no reader and no power failure ever sees a partial file. Creates the folder. */
export async function writeAtomic(path: string, data: string | Uint8Array, mode = USUAL_FILE_MODE): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.${newId()}.part`;
  try {
    await writeFile(part, data, { flag: "wx", mode });
    await flushFile(part);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

const temporaryFolders = new Set<string>();

/**
 * Skips flushing the files below a folder that is of no use after a crash, until the result is called. `folder` is
 * absolute, without a slash at its end.
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
  for (const folder of temporaryFolders) if (path.startsWith(`${folder}/`)) return;
  await flushToDisk(path);
}

/** Flushes a file to disk, wherever it is. */
export async function flushToDisk(path: string): Promise<void> {
  const file = await open(path, "r");
  await file.sync().finally(() => file.close());
}
