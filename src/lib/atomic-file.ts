/** Atomic file writes: to a temporary file in the same folder, which is flushed to disk and renamed. */
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { newId } from "./ids";

/** Writes `data` to `path` atomically: neither a reader nor a power failure leaves a partial file. Creates the folder. */
export async function writeAtomic(path: string, data: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.${newId()}.part`;
  try {
    await Bun.write(part, data);
    await flushFile(part);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Flushes a file to disk, so that it survives a power failure after it was renamed or a row that refers to it was committed. */
export async function flushFile(path: string): Promise<void> {
  const file = await open(path, "r");
  await file.sync().finally(() => file.close());
}
