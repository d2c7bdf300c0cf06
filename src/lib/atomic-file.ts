/** Files that are either whole or not there: written beside their place and renamed into it. */
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { newId } from "./ids";

/** Writes `data` to `path` so that a reader or a crash never sees half of it. Makes the folder. */
export async function writeAtomic(path: string, data: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.${newId()}.part`;
  try {
    await Bun.write(part, data);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
