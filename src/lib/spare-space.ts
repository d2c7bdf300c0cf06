/**
 * A file that only takes up space: it is removed when a full disk would make a write fail that frees more, such as a
 * deletion.
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { findFileSize } from "./file-size";

/** Enough for the rows of a large recording and the log of the database. */
export const SPARE_BYTES = 8 * 1024 ** 2;
const SPARE_NAME = "spare-space";
/** Period of the random bytes, which no file system compresses. */
const BLOCK_BYTES = 1024 ** 2;

/** Creates the file in a folder unless it exists. Errors: those of the file system. */
export async function reserveSpareSpace(folder: string): Promise<void> {
  const path = join(folder, SPARE_NAME);
  if ((await findFileSize(path)) === SPARE_BYTES) return;
  await Bun.write(path, Buffer.alloc(SPARE_BYTES, randomBytes(BLOCK_BYTES)));
}

export const releaseSpareSpace = (folder: string): Promise<void> => rm(join(folder, SPARE_NAME), { force: true });
