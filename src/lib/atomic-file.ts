/** Atomic file writes: to a temporary file in the same folder, which is then renamed. */
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { newId } from "./ids";

/** Writes `data` to `path` atomically: neither a reader nor a crash sees a partial file. Creates the folder. */
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
