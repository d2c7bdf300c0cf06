/**
 * Removes files in two steps: they are moved to the trash immediately and deleted later. Media, renders and uploads are
 * kept there for 48 hours, under a name with the time and their former place; everything else is deleted in the
 * background, and after a crash at startup.
 */
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { KEPT_FOLDERS, POINT_IN_TIME_MS, parseTrashName, STRAY_OWNER, STRAY_SUFFIX } from "../domain/point-in-time";
import { ignoreMissing } from "../lib/error-codes";
import { newId, newIdAt } from "../lib/ids";
import { createFolder, type Folders } from "./folders";

/** `moved` has the current location of each original path. */
type TrashMoves = { moved: Map<string, string> };

/** Holds by the path of their trash. */
const holds = new Map<string, Set<TrashMoves>>();

/** Moves in progress, of all folders. They are short. */
const moving = new Set<Promise<unknown>>();

/** Keeps everything in the trash, also later additions, so that a backup can read files deleted while it runs. */
export function holdTrash({ trash }: Pick<Folders, "trash">) {
  const hold: TrashMoves = { moved: new Map() };
  const all = holds.get(trash) ?? new Set();
  holds.set(trash, all.add(hold));
  return {
    /** Returns the location of a file or folder that was moved to the trash since the hold began, or null. */
    find: async (path: string) => {
      // A file that was not found may have just been moved.
      await Promise.allSettled(moving);
      return hold.moved.get(path) ?? null;
    },
    release: async () => {
      all.delete(hold);
      if (all.size > 0) return;
      holds.delete(trash);
      for (const target of hold.moved.values())
        if (parseTrashName(relative(trash, target).split("/")[0]!) === null)
          await rm(target, { recursive: true, force: true });
    },
  };
}

/** Keeps everything in the trash until `release`. */
export type TrashHold = ReturnType<typeof holdTrash>;

/** Returns whether a backup is reading the trash. */
export const isTrashHeld = ({ trash }: Pick<Folders, "trash">): boolean => holds.has(trash);

/**
 * Moves deleted files or folders to the trash, where those of media, renders and uploads are kept. Resolves before the
 * others are deleted. Ignores missing ones. `now` is the time of the deletion. Throws `AppError` `upstream_unavailable`
 * while a folder is offline.
 */
export async function moveToTrash(folders: Folders, paths: string[], now = Date.now()): Promise<void> {
  const roots = { media: folders.mediaRoot, renders: folders.rendersRoot, uploads: folders.uploads };
  await move(folders, paths, (path) => {
    const folder = KEPT_FOLDERS.find((kept) => roots[kept] === dirname(path));
    return folder === undefined ? newId() : `${newIdAt(now)}.${folder}.${basename(path)}`;
  });
}

/**
 * Moves a file or folder that no row knows to the trash, where it is kept under its own name. It is in one of the three
 * folders or in a folder of them. Throws `AppError` `upstream_unavailable` while a folder is offline.
 */
export async function moveStrayToTrash(folders: Folders, path: string, now: number): Promise<void> {
  const [folder = "", owner = "", inside] = folders.toRelative(path).split("/");
  const id = newIdAt(now);
  if (inside === undefined && parseTrashName(`${id}.${folder}.${owner}`) !== null)
    return moveToTrash(folders, [path], now);
  const entry = join(folders.trash, `${id}.${folder}.${inside === undefined ? STRAY_OWNER : owner}${STRAY_SUFFIX}`);
  await folders.guard.confirmOnline();
  await mkdir(entry, { recursive: true, mode: 0o700 });
  await move(folders, [path], () => join(basename(entry), basename(path)));
}

/**
 * Deletes files or folders that are no longer needed, such as those of an interrupted render, in the background.
 * Ignores missing ones. Throws `AppError` `upstream_unavailable` while a folder is offline.
 */
export const discard = (folders: Folders, paths: string[]): Promise<void> => move(folders, paths, newId);

/** All removals go through this function. */
async function move(folders: Folders, paths: string[], nameFor: (path: string) => string): Promise<void> {
  let isFirst = true;
  for (const path of paths) {
    await folders.guard.confirmOnline();
    if (isFirst) await createFolder(folders.trash);
    isFirst = false;
    const name = nameFor(path);
    const target = join(folders.trash, name);
    const renaming = rename(path, target).then(() => completeMove(folders, path, target), ignoreMissing);
    moving.add(renaming);
    await renaming.finally(() => moving.delete(renaming));
  }
}

function completeMove({ trash }: Folders, path: string, target: string): void {
  const held = holds.get(trash);
  if (held) for (const hold of held) recordMove(hold, path, target);
  // Items that cannot be deleted now are deleted at the next start.
  else if (parseTrashName(relative(trash, target).split("/")[0]!) === null)
    void rm(target, { recursive: true, force: true }).catch(() => {});
}

function recordMove({ moved }: TrashMoves, path: string, target: string): void {
  for (const [original, place] of moved) if (place === path) moved.set(original, target);
  moved.set(path, target);
}

/** Deletes files of assets and renders, also in the trash. Throws `AppError` `upstream_unavailable` while offline. */
export async function eraseFiles(folders: Folders, ids: ReadonlySet<string>): Promise<void> {
  if (ids.size === 0) return;
  await folders.guard.confirmOnline();
  const deleted = (await listNames(folders.trash)).filter((name) => ids.has(parseTrashName(name)?.name ?? ""));
  const places = [...ids].flatMap((id) => [folders.media(id).dir, folders.render(id), folders.upload(id)]);
  await discard(folders, [...places, ...deleted.map((name) => join(folders.trash, name))]);
}

/**
 * Deletes entries that were moved to the trash more than 48 hours before `confirmedNow`, and entries that are not kept.
 * Does nothing while a backup reads the trash. The folder stays, because files may be moved to it at the same time. An
 * abort stops between two entries. Throws `AppError` `upstream_unavailable` while a folder is offline.
 */
export async function sweepTrash(folders: Folders, confirmedNow: number, signal?: AbortSignal): Promise<void> {
  await folders.guard.confirmOnline();
  for (const name of await listNames(folders.trash)) {
    if (isTrashHeld(folders) || signal?.aborted) return;
    const entry = parseTrashName(name);
    if (entry !== null && entry.time >= confirmedNow - POINT_IN_TIME_MS) continue;
    await folders.guard.confirmOnline();
    await rm(join(folders.trash, name), { recursive: true, force: true });
  }
}

/**
 * Empties the trash, oldest entries first, while `isNeeded` returns true. Returns the number of deleted entries. Throws
 * `AppError` `upstream_unavailable` while a folder is offline.
 */
export async function emptyTrash(folders: Folders, isNeeded: () => boolean): Promise<number> {
  await folders.guard.confirmOnline();
  let deleted = 0;
  // Names start with their time.
  for (const name of (await listNames(folders.trash)).sort()) {
    // This also measures the free space of the media folder again.
    await folders.guard.confirmOnline();
    if (isTrashHeld(folders) || !isNeeded()) break;
    await rm(join(folders.trash, name), { recursive: true, force: true });
    deleted++;
  }
  return deleted;
}

/** Returns the size of the files in the trash; 0 while a folder is offline. */
export async function measureTrash({ trash, guard }: Pick<Folders, "trash" | "guard">): Promise<number> {
  let bytes = 0;
  if (guard.findProblem() !== null) return bytes;
  for (const name of await readdir(trash, { recursive: true }).catch(() => [])) {
    const found = await stat(join(trash, name)).catch(() => null);
    if (found?.isFile()) bytes += found.size;
  }
  return bytes;
}

/** Lists the names in a folder; empty if the folder does not exist. */
export const listNames = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch(ignoreMissing)) ?? [];
