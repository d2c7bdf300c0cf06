/**
 * The folder that a job's child process may change. The server never opens a path in it, where a hijacked child could leave a symbolic link:
 * it moves finished files into folders that only the server writes to, and uses them there.
 */
import { lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";

export type ScratchFolder = AsyncDisposable & {
  path: string;
  /** Makes a file through `make`, which writes to the path that it is given inside the scratch folder, unless `place` exists. */
  createOnce(place: string, make: (path: string) => Promise<unknown>): Promise<void>;
};

/** Creates the folder, empty. Disposing removes it. */
export async function openScratchFolder(path: string): Promise<ScratchFolder> {
  const remove = () => rm(path, { recursive: true, force: true });
  await remove();
  await mkdir(path, { recursive: true });
  return {
    path,
    createOnce: async (place, make) => {
      if (await Bun.file(place).exists()) return;
      // The extension stays: ffmpeg chooses the container by it.
      const made = join(path, basename(place));
      await make(made);
      await commitFile(made, place);
    },
    [Symbol.asyncDispose]: remove,
  };
}

/**
 * Moves a file that a child has made to `place`, on the same file system, and returns its size in bytes. Its bytes are on the disk before a
 * row can say that it exists. Throws when it is anything but a regular file.
 */
export async function commitFile(made: string, place: string): Promise<number> {
  // Looked at where the child cannot exchange it any more.
  const taken = `${place}.part`;
  await rename(made, taken);
  const found = await lstat(taken);
  if (!found.isFile()) {
    await rm(taken, { recursive: true, force: true });
    throw new Error(`${basename(made)} is not a regular file`);
  }
  await flush(taken);
  await rename(taken, place);
  return found.size;
}

async function flush(path: string): Promise<void> {
  const file = await open(path, "r");
  await file.sync().finally(() => file.close());
}
