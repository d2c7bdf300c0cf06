/** The file in a render's work folder with the chunk sizes, so that each attempt on any machine uses the same ones. */
import { constants, open } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic } from "../../lib/atomic-file";

export const CHUNK_SIZES_FILE = "sizes.json";

/** `O_NONBLOCK` prevents blocking on a pipe. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MAX_FILE_BYTES = 1024 ** 2;
/** Larger chunks would leave a resumed render little to reuse. */
const MAX_CHUNK_FRAMES = 10_000;

/**
 * Returns the sizes of an earlier attempt in frames; null if it stored none that add up to `frameCount`. A child
 * process may have written the file, so links are not followed and its size is limited.
 */
export async function readChunkSizes(workDir: string, frameCount: number | null): Promise<number[] | null> {
  await using file = await open(join(workDir, CHUNK_SIZES_FILE), OPEN_FLAGS).catch(() => null);
  if (file === null) return null;
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > MAX_FILE_BYTES) return null;
    return parseChunkSizes(JSON.parse(await file.readFile("utf8")), frameCount);
  } catch {
    return null;
  }
}

/** Returns the value if it is a list of sizes, otherwise null. With `frameCount`, they must add up to it. */
export function parseChunkSizes(value: unknown, frameCount: number | null): number[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  let sum = 0;
  for (const frames of value) {
    if (!Number.isInteger(frames) || frames < 1 || frames > MAX_CHUNK_FRAMES) return null;
    sum += frames;
  }
  return frameCount === null || sum === frameCount ? value : null;
}

/** Writes the sizes for later attempts. Creates the folder. */
export const writeChunkSizes = (workDir: string, sizes: readonly number[]): Promise<void> =>
  writeAtomic(join(workDir, CHUNK_SIZES_FILE), JSON.stringify(sizes));
