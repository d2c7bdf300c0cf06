/** Files that may be missing. */
import { stat } from "node:fs/promises";

/** Returns the size of a file in bytes; null when it is missing. */
export async function findFileSize(path: string): Promise<number | null> {
  return stat(path).then(
    (found) => found.size,
    () => null,
  );
}

/** Returns a file; null when it is missing. */
export async function findFile(path: string): Promise<Bun.BunFile | null> {
  const file = Bun.file(path);
  return (await file.exists()) ? file : null;
}
