/**
 * The folder that a job's child process may write to. A hijacked child could leave a symbolic link there, so no other
 * process opens a path in it: finished files are moved to a folder that the child cannot write to, and used there.
 */
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { flushFile, renameDurably } from "../../lib/atomic-file";

export type ScratchFolder = Awaited<ReturnType<typeof openScratchFolder>>;

/** Returns the path inside the scratch folder of a file that is moved to this target. */
type ToPath = (target: string) => string;

/** Creates an empty folder, or empties it: a shared child may already see it. Disposing removes it. */
export async function openScratchFolder(path: string) {
  const remove = () => rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  for (const name of await readdir(path)) await rm(join(path, name), { recursive: true, force: true });
  // Keeps the extension, from which ffmpeg chooses the container.
  const toPath = (target: string) => join(path, basename(target));
  const createTogether = async (targets: readonly string[], create: (toPath: ToPath) => Promise<unknown>) => {
    const missing: string[] = [];
    for (const target of targets) if (!(await Bun.file(target).exists())) missing.push(target);
    if (missing.length === 0) return;
    await create(toPath);
    for (const target of missing) await commitFile(toPath(target), target);
  };
  return {
    path,
    /** Creates the file `target` unless it exists. `create` writes it to a path inside the scratch folder. */
    createOnce: (target: string, create: (path: string) => Promise<unknown>) =>
      createTogether([target], () => create(toPath(target))),
    /** Creates the files that do not exist. `create` writes all of them to their paths inside the scratch folder. */
    createTogether,
    [Symbol.asyncDispose]: remove,
  };
}

/**
 * Moves a file that a child has created to `target`, on the same file system, and returns its size in bytes. The file
 * and its name are flushed to disk, so that a row which refers to it can be committed. Throws when it is not a regular
 * file.
 */
export async function commitFile(created: string, target: string): Promise<number> {
  // Checked after the move, where the child can no longer replace the file.
  const part = `${target}.part`;
  await rename(created, part);
  const found = await lstat(part);
  if (!found.isFile()) {
    await rm(part, { recursive: true, force: true });
    throw new Error(`${basename(created)} is not a regular file`);
  }
  await flushFile(part);
  await renameDurably(part, target);
  return found.size;
}
