/** Removing bytes: moved to the trash at once, deleted in the background, and what a crash left behind is found again at start. */
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../lib/ids";
import type { Folders } from "./folders";

/** Takes files or folders away; resolves when they are out of the way, not when they are deleted. Missing ones are fine. */
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
    // A leftover is deleted by the next start.
    if (moved) void rm(target, { recursive: true, force: true }).catch(() => {});
  }
}

/** Deletes whatever is in the trash. */
export const emptyTrash = (folders: Folders): Promise<void> => rm(folders.trash, { recursive: true, force: true });

/** The names (ids) in one of the folders, none when it does not exist. */
export async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
