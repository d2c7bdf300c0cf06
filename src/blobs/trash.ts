/**
 * Removes files in two steps: they are moved to the trash immediately and deleted in the background. At startup the leftovers of a crash
 * are deleted.
 */
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../lib/ids";
import type { Folders } from "./folders";

/** Moves files or folders to the trash. Resolves before they are deleted. Ignores missing ones. */
export async function moveToTrash(folders: Folders, paths: string[]): Promise<void> {
  await mkdir(folders.trash, { recursive: true });
  for (const path of paths) {
    const target = join(folders.trash, newId());
    const moved = await rename(path, target).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return false;
        throw error;
      },
    );
    // What cannot be deleted now is deleted by the next start.
    if (moved) void rm(target, { recursive: true, force: true }).catch(() => {});
  }
}

/** Deletes the contents of the trash. The folder stays, because files may be moved to it at the same time. */
export async function emptyTrash(folders: Folders): Promise<void> {
  for (const name of await listNames(folders.trash))
    await rm(join(folders.trash, name), { recursive: true, force: true });
}

/** Lists the names in a folder; empty when the folder does not exist. */
export async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
