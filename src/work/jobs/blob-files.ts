/** Blobs on disk: references to files, and the files of a folder. */
import { rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { listNames } from "../../blobs/trash";
import type { BlobRef } from "./definition";

/** Returns a reference to the file. Throws when it is missing. */
export const getBlob = async (path: string): Promise<BlobRef> => ({
  name: basename(path),
  bytes: (await stat(path)).size,
});

/** Returns a reference to the file, or null when it is missing. */
export const findBlob = (path: string): Promise<BlobRef | null> => getBlob(path).catch(() => null);

/** Lists the complete files in a folder, except the one named `excluded`. */
export async function listBlobs(dir: string, excluded: string): Promise<BlobRef[]> {
  const names = (await listNames(dir)).filter((name) => name !== excluded && !isPartFile(name));
  const found = await Promise.all(names.map((name) => findBlob(join(dir, name))));
  return found.filter((blob): blob is BlobRef => blob !== null);
}

const isPartFile = (name: string): boolean => /\.part(\.|$)/.test(name);

/** Removes the incomplete files that a killed process left in a folder. */
export async function removePartFiles(dir: string): Promise<void> {
  for (const name of await listNames(dir)) if (isPartFile(name)) await rm(join(dir, name), { force: true });
}
