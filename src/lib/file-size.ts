/** Access to files that may be missing. */
import { stat } from "node:fs/promises";
import { ignoreMissingPath } from "./error-codes";

/** Returns the size of a file in bytes; null if it is missing. Errors: the others of the file system. */
export async function findFileSize(path: string): Promise<number | null> {
  return (await stat(path).catch(ignoreMissingPath))?.size ?? null;
}

/** Returns a file; null if it is missing. */
export async function findFile(path: string): Promise<Bun.BunFile | null> {
  const file = Bun.file(path);
  return (await file.exists()) ? file : null;
}
