/**
 * Removes files in two steps: they are moved to the trash immediately and deleted in the background. At startup the leftovers of a crash
 * are deleted.
 */
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../lib/ids";
import type { Folders } from "./folders";

/** Keeps what is moved to the trash until `release`. */
export type TrashHold = {
  /** Returns where a file or folder is that was moved to the trash since the hold began; null for another one. */
  find(path: string): string | null;
  release(): Promise<void>;
};

/** Holds by the path of their trash. `kept`: where each original path is now. */
const holds = new Map<string, Set<{ kept: Map<string, string> }>>();

/** Keeps what is moved to the trash from now on, so that a backup can read files that are deleted while it runs. */
export function holdTrash({ trash }: Pick<Folders, "trash">): TrashHold {
  const hold = { kept: new Map<string, string>() };
  const all = holds.get(trash) ?? new Set();
  holds.set(trash, all.add(hold));
  return {
    find: (path) => hold.kept.get(path) ?? null,
    release: async () => {
      all.delete(hold);
      if (all.size > 0) return;
      holds.delete(trash);
      for (const target of hold.kept.values()) await rm(target, { recursive: true, force: true });
    },
  };
}

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
    if (!moved) continue;
    const held = holds.get(folders.trash);
    if (held) for (const { kept } of held) kept.set(path, target);
    // What cannot be deleted now is deleted by the next start.
    else void rm(target, { recursive: true, force: true }).catch(() => {});
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
