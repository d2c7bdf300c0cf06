/** Sizes of files. */
import { stat } from "node:fs/promises";

/** Returns the size of a file in bytes; null when it is missing. */
export async function findFileSize(path: string): Promise<number | null> {
  return stat(path).then(
    (found) => found.size,
    () => null,
  );
}
