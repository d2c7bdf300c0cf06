/** Finds the files of a copy of the database, even if they are deleted or moved during the backup. */
import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { storeCopy } from "../../blobs/backup-files";
import { type Folders, getMediaFolder } from "../../blobs/folders";
import { listNames, type TrashHold } from "../../blobs/trash";
import { parseSnapshotName, parseTrashName, SNAPSHOTS_FOLDER } from "../../domain/point-in-time";
import { ignoreMissing, ignoreMissingPath } from "../../lib/error-codes";
import type { readDatabaseContents } from "../../store/database-file";

/** A file to back up. `path` is its path in a backup; `from` is where it was found. */
export type FoundFile = { path: string; from: string; bytes: number; modified_at: number };

/**
 * Lists the files of the rows, the speech models, the snapshots and the trash, without render caches: each render may
 * replace one, and the next render makes it again. `missing`: main files of rows that do not exist.
 */
export async function findFiles(
  folders: Folders,
  hold: TrashHold,
  { assets, renders }: Pick<Awaited<ReturnType<typeof readDatabaseContents>>, "assets" | "renders">,
): Promise<{ files: FoundFile[]; missing: string[] }> {
  const files: FoundFile[] = [];
  const missing: string[] = [];
  /** Entries of the trash that are listed with their rows. */
  const listed = new Set<string>();
  const add = async (path: string): Promise<FoundFile[]> => {
    const moved = await hold.find(path);
    const walked = await walk(moved ?? path, folders.toRelative(path));
    // A folder that was moved during the walk is walked again at its new place.
    if ((await hold.find(path)) !== moved) return add(path);
    if (moved !== null) listed.add(basename(moved));
    const found = walked.filter((file) => !isRenderCache(file.path));
    files.push(...found);
    return found;
  };
  for (const { id, is_complete } of assets) {
    const media = folders.media(id);
    await add(folders.upload(id));
    const found = await add(media.dir);
    const source = folders.toRelative(media.source);
    if (is_complete && !found.some(({ path }) => path === source)) missing.push(source);
  }
  for (const { id, is_complete } of renders) {
    const found = await add(folders.render(id));
    if (is_complete && found.length === 0) missing.push(folders.toRelative(folders.render(id)));
  }
  await add(folders.resolve("models"));
  const snapshots = folders.resolve(SNAPSHOTS_FOLDER);
  for (const name of await listNames(snapshots)) if (parseSnapshotName(name) !== null) await add(join(snapshots, name));
  for (const name of await listNames(folders.trash))
    if (parseTrashName(name) !== null && !listed.has(name)) await add(join(folders.trash, name));
  return { files, missing };
}

/** Returns whether a path is a render cache, or one that is being replaced. */
const isRenderCache = (path: string): boolean =>
  basename(path).replace(/\.part$/, "") === basename(getMediaFolder("").renderCache);

/**
 * Lists the files at or below `from`. Links and special files are left out. Errors: those of the file system, but for
 * missing files.
 */
export async function walk(from: string, path: string): Promise<FoundFile[]> {
  // A file that exists and cannot be read must not be left out of a backup.
  const found = await stat(from).catch(ignoreMissingPath);
  if (found?.isFile()) return [{ path, from, bytes: found.size, modified_at: Math.round(found.mtimeMs) }];
  if (!found?.isDirectory()) return [];
  const files: FoundFile[] = [];
  // The folder may be moved to the trash at any time.
  for (const entry of (await readdir(from, { withFileTypes: true }).catch(ignoreMissingPath)) ?? [])
    if (entry.isFile() || entry.isDirectory())
      files.push(...(await walk(join(from, entry.name), `${path}/${entry.name}`)));
  return files;
}

type FoundFileSources = { folders: Folders; hold: TrashHold };

/**
 * Copies a file to its path below `target`, from the trash when it was deleted since it was found. An upload that was
 * completed since then is copied as the source of its recording. Returns null when the file no longer exists. Errors:
 * those of `storeCopy`.
 */
export const storeFound = (file: FoundFile, target: string, sources: FoundFileSources, signal: AbortSignal) =>
  trySources(file, sources, async (from, path) => ({ path, ...(await storeCopy(from, join(target, path), signal)) }));

/**
 * Opens a file for reading, where `storeFound` would copy it from. Returns null when it no longer exists. The caller
 * closes it.
 */
export const openFound = (file: FoundFile, sources: FoundFileSources) =>
  trySources(file, sources, async (from, path) => ({ path, handle: await open(from, "r") }));

async function trySources<T>(
  file: FoundFile,
  { folders, hold }: FoundFileSources,
  run: (from: string, path: string) => Promise<T>,
): Promise<T | null> {
  const live = folders.resolve(file.path);
  const isUpload = dirname(live) === folders.uploads;
  const source = isUpload ? folders.media(relative(folders.uploads, live)).source : live;
  // Each place is looked up when the file was not at the ones before: it may be moved at any time.
  for (const [find, path] of [
    [() => file.from, file.path],
    [() => findInTrash(live, hold), file.path],
    [() => source, folders.toRelative(source)],
    [() => findInTrash(source, hold), folders.toRelative(source)],
  ] as const) {
    const from = await find();
    if (from === null) continue;
    try {
      return await run(from, path);
    } catch (error) {
      ignoreMissing(error);
    }
  }
  return null;
}

/** Returns the path of a file that was moved to the trash, by itself or with its folder. */
async function findInTrash(path: string, hold: TrashHold): Promise<string | null> {
  for (let moved = path; moved !== dirname(moved); moved = dirname(moved)) {
    const target = await hold.find(moved);
    if (target !== null) return join(target, relative(moved, path));
  }
  return null;
}
